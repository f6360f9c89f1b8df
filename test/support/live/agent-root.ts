import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { SessionSubscription } from '../../../replica/client/types.ts'
import { AGENT_COMMAND } from '../acp-stage.ts'
import { type CliOutcome, runCli } from '../run-cli.ts'
import { killProcessesWith } from './processes.ts'
import { type TestRoot, testRoot } from './test-root.ts'

/** A test root whose leaders offer the test agent, by configuration alone. */
export interface AgentRoot extends TestRoot {
  /** Where the sessions work. */
  readonly cwd: string
  /** Holds the root, the session's folder and everything else of this test. */
  readonly directory: string
  /** A command line call on this root. */
  cli(...args: readonly string[]): Promise<CliOutcome>
}

/** A root with one backend for each row: its name and the traits of `test/support/acp-agent/agent.ts`. */
export function agentRoot(backends: Readonly<Record<string, string>>): AgentRoot {
  const root = testRoot()
  const directory = dirname(root.path)
  const cwd = join(directory, 'project')
  mkdirSync(cwd)
  // An agent that ignores the end of its leader must not outlive the test.
  onTestFinished(() => killProcessesWith(directory))
  const rows = Object.entries(backends).map(([name, traits]) => [
    name,
    { acp: AGENT_COMMAND, env: { ACP_AGENT: traits } },
  ])
  writeConfig(JSON.stringify({ backends: Object.fromEntries(rows) }))
  return { ...root, cwd, directory, cli: (...args) => runCli(['--root', root.path, ...args]) }
}

/** Writes the settings of the user whose environment this process has. */
export function writeConfig(text: string): void {
  const folder = join(process.env.XDG_CONFIG_HOME ?? '', 'headwater')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'config.jsonc'), text)
}

/** What the assistant has said in a turn, as a replica sees it now. */
export function textOf({ current }: SessionSubscription, turnId: string): string {
  return current.transcript.entries
    .map(entry => (entry.kind === 'assistant' && entry.turnId === turnId ? entry.text : ''))
    .join('')
}
