import type * as z from 'zod/mini'
import type { RunContext } from '../backend.ts'
import { readInput } from './read-input.ts'

/** What the tools of this folder need of a run. */
export type ToolRun = Pick<RunContext, 'tasks' | 'submitPlan' | 'updatePlan'>

/** A tool that a backend can offer to its model. `input` can be given on as JSON Schema. */
export interface RunTool {
  readonly name: string
  readonly description: string
  readonly input: z.ZodMiniType
  /**
   * Does what the model asked for and resolves to a JSON value for it. Rejects with HeadwaterError whose message tells the model what to do
   * otherwise, and with the reason of `signal` after a stop.
   */
  call(run: ToolRun, input: unknown): Promise<unknown>
}

/** A tool whose input is checked before `use` sees it. */
export function defineTool<S extends z.ZodMiniType>(tool: {
  readonly name: string
  readonly description: string
  readonly input: S
  readonly use: (run: ToolRun, input: z.infer<S>) => unknown
}): RunTool {
  const { name, description, input, use } = tool
  return { name, description, input, call: async (run, given) => await use(run, readInput(input, given)) }
}
