import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { createAcpBackend } from '../../leader/execution/acp/acp-backend.ts'
import type { AgentLimits } from '../../leader/execution/acp/agent-process.ts'
import { createDriver } from '../../leader/execution/driver.ts'
import type { RunHandle } from '../../leader/session/run-port.ts'
import { FakeArtifacts, type FakeRun, FakeRunPort } from './fake-run-port.ts'
import { testTempDir } from './temp-dir.ts'

const AGENT = fileURLToPath(new URL('./acp-agent/agent.ts', import.meta.url))

/** The command line of the test agent. */
export const AGENT_COMMAND: readonly string[] = [process.execPath, '--import', import.meta.resolve('tsx'), AGENT]

/** One session on the test agent: its runs share the folder, the backend and the session id. */
export interface AcpStage {
  readonly cwd: string
  readonly artifacts: FakeArtifacts
  run(run: FakeRun | string): { readonly port: FakeRunPort; readonly handle: RunHandle }
  /** Runs to the end. */
  finish(run: FakeRun | string): Promise<FakeRunPort>
  /** Ends the agent's process. */
  close(): Promise<void>
}

/** Opens a session on the test agent with the traits of `test/support/acp-agent/agent.ts`; it is closed with the test. */
export function openAcpStage(
  traits = '',
  more: { readonly idleEndMs?: number; readonly limits?: Partial<AgentLimits> } = {},
): AcpStage {
  const cwd = testTempDir('acp')
  const artifacts = new FakeArtifacts()
  const backend = createAcpBackend({
    kind: 'agent',
    command: AGENT_COMMAND,
    env: { ACP_AGENT: traits },
    limits: { cancelMs: 400, endStageMs: 400 },
    ...more,
  })
  const close = async (): Promise<void> => backend.close?.()
  onTestFinished(close)
  const startRun = createDriver({ backends: new Map([['agent', backend]]), artifacts })
  const sessionId = `session-${cwd.slice(-6)}`
  const run: AcpStage['run'] = given => {
    const fake = typeof given === 'string' ? { text: given } : given
    const port = new FakeRunPort({ ...fake, header: { backend: 'agent', cwd, sessionId, ...fake.header } })
    return { port, handle: startRun(port) }
  }
  const finish: AcpStage['finish'] = async given => {
    const { port, handle } = run(given)
    await handle.done
    return port
  }
  return { cwd, artifacts, run, finish, close }
}

/** True while a process exists, also as one that nobody has waited for. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
