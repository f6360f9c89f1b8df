import { LIMITS } from '../../../schema/limits.ts'
import type { Backend, RunContext } from '../backend.ts'
import { type CancelTimer, type ElapsedClock, systemClock } from '../clock.ts'
import { type ExecutionLog, silentLog } from '../ports.ts'
import { AgentLink } from './agent-link.ts'
import { AGENT_LIMITS, type AgentLimits } from './agent-process.ts'

/** An agent by its command line. `env` comes on top of the leader's environment, `idleEndMs` is how long it is kept without a turn. */
export interface AcpBackendOptions {
  readonly kind: string
  readonly command: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly idleEndMs?: number
  readonly limits?: Partial<AgentLimits>
  readonly clock?: ElapsedClock
  readonly log?: ExecutionLog
}

/**
 * A backend that is any agent which speaks version 1 of the Agent Client Protocol on its standard streams. One process per session,
 * started when a turn needs it, kept for the next turns, ended when it was idle for a while.
 */
export function createAcpBackend(options: AcpBackendOptions): Backend {
  return new AcpBackend(options)
}

class AcpBackend implements Backend {
  readonly kind: string
  readonly takesSteering = false
  readonly #options: AcpBackendOptions
  readonly #clock: ElapsedClock
  readonly #log: ExecutionLog
  readonly #links = new Map<string, AgentLink>()
  readonly #idle = new Map<string, CancelTimer>()
  readonly #ending = new Map<string, Promise<void>>()
  #isClosed = false

  constructor(options: AcpBackendOptions) {
    this.kind = options.kind
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#log = options.log ?? silentLog
  }

  async start(run: RunContext): Promise<void> {
    const { sessionId } = run.session
    const link = await this.#open(run)
    try {
      await link.runTurn(run)
    } finally {
      if (link.isUsable && !this.#isClosed) this.#endWhenIdle(sessionId)
      else await this.#end(sessionId)
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const sessions = [...this.#links.keys()]
    await Promise.all([...sessions.map(sessionId => this.#end(sessionId)), ...this.#ending.values()])
  }

  /** The session's running agent, or a new one; never two of the same session at once. */
  async #open(run: RunContext): Promise<AgentLink> {
    const { sessionId } = run.session
    this.#idle.get(sessionId)?.()
    this.#idle.delete(sessionId)
    const kept = this.#links.get(sessionId)
    if (kept?.isUsable && kept.cwd === run.cwd) return kept
    await this.#end(sessionId)
    if (this.#isClosed) throw new Error('the backend is closed')
    run.signal.throwIfAborted()
    const { command, env = {} } = this.#options
    const limits = { ...AGENT_LIMITS, ...this.#options.limits }
    const link = await AgentLink.start({ command, cwd: run.cwd, env, limits }, this.#log)
    this.#links.set(sessionId, link)
    return link
  }

  #endWhenIdle(sessionId: string): void {
    const idleEndMs = this.#options.idleEndMs ?? LIMITS.agentIdleEndMs
    this.#idle.set(
      sessionId,
      this.#clock.schedule(idleEndMs, () => {
        this.#idle.delete(sessionId)
        void this.#end(sessionId)
      }),
    )
  }

  /** Never rejects. */
  async #end(sessionId: string): Promise<void> {
    this.#idle.get(sessionId)?.()
    this.#idle.delete(sessionId)
    const link = this.#links.get(sessionId)
    if (link === undefined) return this.#ending.get(sessionId)
    this.#links.delete(sessionId)
    const ending = link.end().catch(error => {
      this.#log.warn({ session_id: sessionId, err: error }, 'an agent could not be ended cleanly')
    })
    this.#ending.set(sessionId, ending)
    await ending
    if (this.#ending.get(sessionId) === ending) this.#ending.delete(sessionId)
  }
}
