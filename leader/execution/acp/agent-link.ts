import {
  type AgentCapabilities,
  type AuthMethod,
  type ClientConnection,
  client,
  methods,
  PROTOCOL_VERSION,
} from '@agentclientprotocol/sdk'
import { LIMITS } from '../../../schema/limits.ts'
import { BackendFailure, type RunContext } from '../backend.ts'
import { pause, systemClock } from '../clock.ts'
import type { ExecutionLog } from '../ports.ts'
import { type AgentCommand, type AgentLimits, AgentProcess } from './agent-process.ts'
import { type AgentSession, chooseModel, openAgentSession } from './agent-session.ts'
import { askForm, askPermission, NOBODY_TO_ASK } from './dialogue.ts'
import { isAgentError, readAgentFailure } from './failure.ts'
import { openMessageStream } from './message-stream.ts'
import { AttachmentFolder, readPrompt } from './prompt-blocks.ts'
import { asObject } from './report/content-text.ts'
import { Turn } from './turn.ts'

/**
 * An agent's process with the protocol spoken to it, for one session and one turn at a time:
 *
 *   start ──▶ idle ──runTurn──▶ in a turn ──┬─▶ idle
 *                                           └─▶ lost (exited, killed, or its connection closed) ; end() from anywhere
 *
 * Updates outside a turn, so also the replay of a loaded session, go nowhere.
 */
export class AgentLink {
  readonly cwd: string
  readonly #limits: AgentLimits
  readonly #process: AgentProcess
  readonly #connection: ClientConnection
  readonly #log: ExecutionLog
  readonly #folder = new AttachmentFolder()
  /** Rejects when the agent is gone; never resolves. */
  readonly #lost: Promise<never>
  #capabilities: AgentCapabilities = {}
  #authMethods: readonly AuthMethod[] = []
  #session: AgentSession | null = null
  #model: string | undefined
  #turn: Turn | null = null
  #isSpoiled = false
  #noise = 0

  private constructor(process: AgentProcess, command: AgentCommand, log: ExecutionLog) {
    this.cwd = command.cwd
    this.#limits = command.limits
    this.#process = process
    this.#log = log
    this.#connection = this.#connect()
    this.#lost = this.#watch()
    this.#lost.catch(() => {})
  }

  /** Starts the process and nothing else; the first turn does the rest. */
  static async start(command: AgentCommand, log: ExecutionLog): Promise<AgentLink> {
    return new AgentLink(await AgentProcess.start(command), command, log)
  }

  /** False once the agent is gone or cannot be trusted with another turn. */
  get isUsable(): boolean {
    return this.#process.isAlive && !this.#isSpoiled && !this.#connection.signal.aborted
  }

  /** Runs one turn; resolves when the agent has ended it, and rejects as `Backend.start` does. */
  async runTurn(run: RunContext): Promise<void> {
    try {
      await run.processStarted(this.#process.identity)
      const session = await this.#setUp(run)
      const prompt = await readPrompt(run, this.#folder)
      const turn = new Turn(run, this.#connection.agent, session.agentSessionId)
      this.#turn = turn
      await turn.play(prompt, this.#lost, this.#limits.cancelMs)
    } catch (error) {
      throw await this.#explain(error, run)
    } finally {
      const turn = this.#turn
      this.#turn = null
      if (turn?.isAbandoned) await this.#kill()
      const dropped = turn?.report.dropped ?? 0
      if (dropped + this.#noise > 0)
        this.#log.debug({ run_id: run.runId, dropped, noise: this.#noise }, 'agent output was dropped')
      this.#noise = 0
    }
  }

  /** Ends the process; resolves when nothing of it is left. */
  async end(): Promise<void> {
    await this.#process.end()
    this.#connection.close()
    await this.#folder.remove()
  }

  async #kill(): Promise<void> {
    this.#isSpoiled = true
    await this.#process.kill()
    this.#connection.close()
    await this.#folder.remove()
  }

  #connect(): ClientConnection {
    const stream = openMessageStream({
      stdin: this.#process.stdin,
      stdout: this.#process.stdout,
      onUpdate: (params, bytes) => this.#turn?.takeUpdate(params, bytes),
      onNoise: () => {
        this.#noise += 1
      },
    })
    return client({ name: 'headwater' })
      .onRequest(methods.client.session.requestPermission, ({ params }) => {
        const { report, run } = this.#turnOf(params.sessionId) ?? {}
        if (report === undefined || run === undefined) return NOBODY_TO_ASK.permission
        return this.#ask(NOBODY_TO_ASK.permission, () => askPermission(run, report.tools, params))
      })
      .onRequest(methods.client.elicitation.create, ({ params }) => {
        const run = 'sessionId' in params ? this.#turnOf(params.sessionId)?.run : this.#turn?.run
        if (run === undefined) return NOBODY_TO_ASK.elicitation
        return this.#ask(NOBODY_TO_ASK.elicitation, () => askForm(run, params))
      })
      .connect(stream)
  }

  #turnOf(agentSessionId: unknown): Turn | null {
    return this.#turn?.agentSessionId === agentSessionId ? this.#turn : null
  }

  /** A dialogue that fails or is one too many gets the answer of a closed one, so that the agent is never left waiting. */
  async #ask<T>(closed: T, dialogue: () => Promise<T>): Promise<T> {
    const turn = this.#turn
    if (turn === null || turn.dialogues >= LIMITS.interactionsPending) return closed
    turn.dialogues += 1
    try {
      return await dialogue()
    } catch (error) {
      this.#log.debug({ run_id: turn.run.runId, err: error }, 'a dialogue of an agent was closed')
      return closed
    } finally {
      turn.dialogues -= 1
    }
  }

  /** An agent that closes its output but lives on is ended: nothing can come from it any more. */
  async #watch(): Promise<never> {
    await Promise.race([this.#process.exited, this.#connection.closed])
    this.#isSpoiled = true
    const reason: unknown = this.#connection.signal.reason
    await (this.#turn === null ? this.#process.end() : this.#process.kill())
    const isTooLarge = reason instanceof Error && reason.message.startsWith('the agent sent')
    if (isTooLarge) throw new BackendFailure('backend_error', reason.message)
    throw new BackendFailure('backend_exited', this.#process.describeExit())
  }

  async #setUp(run: RunContext): Promise<AgentSession> {
    const timer = new AbortController()
    const isLate = pause(systemClock, this.#limits.startMs, timer.signal).then(
      () => {
        throw new BackendFailure('timeout', `The agent was not ready within ${this.#limits.startMs / 1000} s.`)
      },
      () => new Promise<never>(() => {}),
    )
    const isStopped = new Promise<never>((_, reject) => {
      const onAbort = (): void => reject(run.signal.reason)
      if (run.signal.aborted) onAbort()
      run.signal.addEventListener('abort', onAbort, { once: true, signal: timer.signal })
    })
    try {
      return await Promise.race([this.#openSession(run), this.#lost, isLate, isStopped])
    } catch (error) {
      if (!isAgentError(error)) this.#isSpoiled = true
      throw error
    } finally {
      timer.abort()
    }
  }

  async #openSession(run: RunContext): Promise<AgentSession> {
    const { agent } = this.#connection
    if (this.#session === null) {
      await this.#initialize()
      const hasPast = run.agentSession !== null || run.history.length > 0
      const session = await openAgentSession(agent, this.#capabilities, run)
      if (session.isFresh && hasPast) await run.notice('The agent starts without memory of the earlier turns.')
      this.#session = session
    }
    const { model } = run.session
    if (model !== undefined && model !== this.#model) {
      const isChosen = await chooseModel(agent, this.#session, model)
      if (!isChosen) await run.notice(`The agent does not offer the model ${model}; it uses its own choice.`)
      this.#model = model
    }
    return this.#session
  }

  async #initialize(): Promise<void> {
    const response = asObject(
      await this.#connection.agent.request(methods.agent.initialize, {
        protocolVersion: PROTOCOL_VERSION,
        clientCapabilities: {
          fs: { readTextFile: false, writeTextFile: false },
          terminal: false,
          elicitation: { form: {} },
          session: { notices: {} },
        },
        clientInfo: { name: 'headwater', title: 'Headwater', version: '0.1.0' },
      }),
    )
    if (response?.protocolVersion !== PROTOCOL_VERSION) {
      const version = String(response?.protocolVersion)
      throw new BackendFailure(
        'backend_error',
        `The agent speaks version ${version} of its protocol, not ${PROTOCOL_VERSION}.`,
      )
    }
    this.#capabilities = asObject(response.agentCapabilities) ?? {}
    this.#authMethods = Array.isArray(response.authMethods) ? response.authMethods : []
  }

  /** A request that was lost with its connection is told as what became of the process. */
  async #explain(error: unknown, run: RunContext): Promise<unknown> {
    if (run.signal.aborted || error instanceof BackendFailure) return error
    if (isAgentError(error)) return readAgentFailure(error, this.#authMethods)
    if (!this.#connection.signal.aborted) return error
    return this.#lost.catch((lost: unknown) => lost)
  }
}
