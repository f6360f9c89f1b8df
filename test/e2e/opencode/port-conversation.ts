import { createAcpBackend } from '../../../leader/execution/acp/acp-backend.ts'
import type { Backend, ProcessIdentity } from '../../../leader/execution/backend.ts'
import { createDriver } from '../../../leader/execution/driver.ts'
import type { StartRun } from '../../../leader/session/run-port.ts'
import { isAlive } from '../../support/acp-stage.ts'
import { FakeArtifacts, FakeRunPort } from '../../support/fake-run-port.ts'
import { waitFor } from '../../support/wait-for.ts'
import type { AskedPermission, Conversation, StartedTurn, TurnEnd } from './conversation.ts'
import type { InstalledAgent } from './install.ts'

const TURN_MS = 60_000

/** A conversation through the ACP backend and the driver, with a session that lives in memory. */
export function openPortConversation(agent: InstalledAgent, cwd: string): Conversation {
  return new PortConversation(agent, cwd)
}

class PortConversation implements Conversation {
  readonly killedTurn = { status: 'failed', failureClass: 'backend_exited' } as const
  readonly #agent: InstalledAgent
  readonly #cwd: string
  #backend: Backend
  #startRun: StartRun
  #last: FakeRunPort | undefined
  #former: ProcessIdentity | undefined

  constructor(agent: InstalledAgent, cwd: string) {
    this.#agent = agent
    this.#cwd = cwd
    const [backend, startRun] = this.#bringUp()
    this.#backend = backend
    this.#startRun = startRun
  }

  async start(text: string): Promise<StartedTurn> {
    const port = new FakeRunPort({
      text,
      header: { backend: 'opencode', cwd: this.#cwd, sessionId: 'session-opencode' },
      agentSession: this.#last?.agentSession ?? null,
      ...(this.#former === undefined ? {} : { formerProcess: this.#former }),
    })
    this.#former = undefined
    this.#last = port
    return new PortTurn(port, this.#startRun(port))
  }

  /** The old backend is left as it is, as after a crash: only its successor knows what to end. */
  async kill(): Promise<void> {
    this.#former = this.#process()
    const [backend, startRun] = this.#bringUp()
    this.#backend = backend
    this.#startRun = startRun
  }

  async agentProcesses(): Promise<readonly number[]> {
    const process = this.#process()
    return process !== undefined && isAlive(process.pid) ? [process.pid] : []
  }

  async close(): Promise<void> {
    await this.dispose()
    await waitFor(async () => (await this.agentProcesses()).length === 0)
  }

  async dispose(): Promise<void> {
    await this.#backend.close?.()
  }

  #process(): ProcessIdentity | undefined {
    return this.#last?.commands('process').at(-1)?.process
  }

  #bringUp(): [Backend, StartRun] {
    const { program, env } = this.#agent
    const backend = createAcpBackend({ kind: 'opencode', command: [program, 'acp'], env })
    return [backend, createDriver({ backends: new Map([['opencode', backend]]), artifacts: new FakeArtifacts() })]
  }
}

class PortTurn implements StartedTurn {
  readonly #port: FakeRunPort
  readonly #handle: ReturnType<StartRun>

  constructor(port: FakeRunPort, handle: ReturnType<StartRun>) {
    this.#port = port
    this.#handle = handle
  }

  async waitForText(text: string): Promise<string> {
    await waitFor(() => this.#port.textOf('assistant').includes(text), { what: `text ${text}`, deadlineMs: TURN_MS })
    return this.#port.textOf('assistant')
  }

  async waitForPermission(): Promise<AskedPermission> {
    const { request } = await waitFor(() => this.#port.pending[0], {
      what: 'a permission request',
      deadlineMs: TURN_MS,
    })
    if (request.kind !== 'permission') throw new Error(`the agent asked a ${request.kind}`)
    return request
  }

  async answerPermission(decision: 'allow' | 'reject'): Promise<void> {
    const request = this.#port.pending[0]?.request
    const option = request?.kind === 'permission' && request.options.find(one => one.kind === `${decision}_once`)
    if (!option) throw new Error(`the agent offers nothing to ${decision} once`)
    this.#port.answer({ kind: 'permission', optionId: option.optionId })
  }

  async tools(): Promise<readonly { readonly title: string; readonly status: string }[]> {
    return this.#port.commands('tool_start').map(({ toolCallId, title, status }) => {
      const updates = this.#port.commands('tool_update').filter(update => update.toolCallId === toolCallId)
      const end = this.#port.commands('tool_end').find(one => one.toolCallId === toolCallId)
      return {
        title: updates.findLast(update => update.title !== undefined)?.title ?? title,
        status: end?.status ?? status,
      }
    })
  }

  stop(): Promise<void> {
    return this.#handle.stop('user_stop', 5_000)
  }

  async ended(): Promise<TurnEnd> {
    await this.#handle.done
    const [end] = this.#port.ends
    if (end === undefined) throw new Error('the run has no end')
    return end.kind === 'failed' ? { status: 'failed', failureClass: end.failureClass } : { status: end.kind }
  }
}
