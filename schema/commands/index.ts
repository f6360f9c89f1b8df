import type * as z from 'zod/mini'
import { historyCommands } from './history.ts'
import { hostCommands } from './host.ts'
import { interactionCommands } from './interaction.ts'
import type { Operation } from './operation.ts'
import { planCommands } from './plan.ts'
import { queueCommands } from './queue.ts'
import { sessionCommands } from './session.ts'
import { taskCommands } from './task.ts'
import { turnCommands } from './turn.ts'

/** Every operation: name → kind, input schema, result schema, identity. Source: interfaces 2. */
export const commands = {
  ...hostCommands,
  ...sessionCommands,
  ...turnCommands,
  ...queueCommands,
  ...interactionCommands,
  ...planCommands,
  ...taskCommands,
  ...historyCommands,
} as const

/** The name of an operation, `noun.verb`. */
export type OperationName = keyof typeof commands
/** What an operation takes. */
export type Input<Op extends OperationName> = z.infer<(typeof commands)[Op]['input']>
/** What an operation gives when it succeeds. */
export type Result<Op extends OperationName> = z.infer<(typeof commands)[Op]['result']>
/** The name of an operation that is decided in a lane and leaves a receipt. */
export type CommandName = {
  [Op in OperationName]: (typeof commands)[Op]['kind'] extends 'command' ? Op : never
}[OperationName]

/** The operation of this name, or undefined; safe for any string. */
export function findOperation(name: string): Operation | undefined {
  return Object.hasOwn(commands, name) ? (commands as Record<string, Operation>)[name] : undefined
}

/** The name under which an operation's receipts are kept. Source: A5. */
export function receiptScope(name: string): string {
  return findOperation(name)?.scope ?? name
}
