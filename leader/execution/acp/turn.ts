import { type ClientContext, type ContentBlock, methods, type PromptResponse } from '@agentclientprotocol/sdk'
import { BackendFailure, type RunContext } from '../backend.ts'
import { pause, systemClock } from '../clock.ts'
import { asObject } from './report/content-text.ts'
import { TurnReport } from './report/turn-report.ts'

/** One prompt of an agent's session, from its sending to its stop reason. */
export class Turn {
  readonly run: RunContext
  readonly report: TurnReport
  readonly agentSessionId: string
  /** Questions of the agent that are open. */
  dialogues = 0
  readonly #agent: ClientContext
  #isAbandoned = false
  #exceedSteps: () => void = () => {}
  #isOver = false

  constructor(run: RunContext, agent: ClientContext, agentSessionId: string) {
    this.run = run
    this.report = new TurnReport(run)
    this.agentSessionId = agentSessionId
    this.#agent = agent
  }

  /** True when the agent did not end the turn although it was told to: its process must go. */
  get isAbandoned(): boolean {
    return this.#isAbandoned
  }

  /** Takes an update of this turn; others are ignored. The promise holds up the reader. */
  takeUpdate(params: unknown, bytes: number): Promise<void> | undefined {
    const notification = asObject(params)
    if (this.#isOver || notification?.sessionId !== this.agentSessionId) return undefined
    this.report.take(notification.update, bytes)
    const { maxSteps } = this.run
    if (maxSteps !== undefined && this.report.tools.started > maxSteps) this.#exceedSteps()
    return this.report.ready()
  }

  /** Sends the prompt and waits for its end; a stop, too many steps and a failed effect cancel it. */
  async play(prompt: ContentBlock[], lost: Promise<never>, cancelMs: number): Promise<void> {
    const isExceeded = new Promise<never>((_, reject) => {
      this.#exceedSteps = () =>
        reject(new BackendFailure('step_cap_reached', 'The agent used more steps than it was given.'))
    })
    const over = new AbortController()
    const isStopped = new Promise<never>((_, reject) => {
      const onAbort = (): void => reject(this.run.signal.reason)
      if (this.run.signal.aborted) onAbort()
      this.run.signal.addEventListener('abort', onAbort, { once: true, signal: over.signal })
    })
    for (const never of [isExceeded, isStopped]) never.catch(() => {})
    this.run.signal.throwIfAborted()
    const asked = this.#agent.request(methods.agent.session.prompt, { sessionId: this.agentSessionId, prompt })
    try {
      const response = await Promise.race([asked, lost, this.report.failed, isExceeded, isStopped])
      this.#isOver = true
      await this.report.drained()
      await this.#conclude(response)
    } catch (error) {
      await this.#cancel(asked, lost, cancelMs)
      throw error
    } finally {
      over.abort()
      this.#isOver = true
    }
  }

  /** Tells the agent to end the turn and gives it a while to say that it has. */
  async #cancel(asked: Promise<PromptResponse>, lost: Promise<never>, cancelMs: number): Promise<void> {
    if (this.#isOver) return
    this.#isOver = true
    const timer = new AbortController()
    const ended = asked.then(
      () => true,
      () => true,
    )
    const late = pause(systemClock, cancelMs, timer.signal).then(
      () => false,
      () => true,
    )
    this.#agent.notify(methods.agent.session.cancel, { sessionId: this.agentSessionId }).catch(() => {})
    const hasEnded = await Promise.race([ended, lost.catch(() => true), late])
    timer.abort()
    this.#isAbandoned = !hasEnded
  }

  async #conclude(response: PromptResponse): Promise<void> {
    const { stopReason, usage } = (asObject(response) ?? {}) as { stopReason?: unknown; usage?: unknown }
    await this.report.reportUsage(usage)
    switch (stopReason) {
      case 'end_turn':
        return
      case 'cancelled':
        throw new BackendFailure('backend_error', 'The agent cancelled the turn by itself.')
      case 'max_turn_requests':
        throw new BackendFailure('step_cap_reached', 'The agent reached its limit of steps in one turn.')
      case 'max_tokens':
        return this.run.notice('The agent reached its limit of tokens and stopped here.')
      case 'refusal':
        return this.run.notice('The agent refused to go on.')
      default:
        return this.run.notice('The agent stopped for a reason that is not known here.')
    }
  }
}
