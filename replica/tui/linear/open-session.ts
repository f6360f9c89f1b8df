import type { SessionProjection } from '../../../schema/entities/projection.ts'
import { isTerminal } from '../../../schema/entities/turn.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { bindCommands, type SessionCommands } from '../../react/commands/bound-commands.ts'
import type { Readable, SessionView } from '../../react/types.ts'
import { notNowWords } from '../../view/availability-words.ts'
import { outcomeOf, type Told } from '../session/outcome.ts'
import { AnswerSheet } from './answer-sheet.ts'
import type { LinearContext } from './linear-context.ts'
import { SessionTeller } from './session-teller.ts'

/** Where a message goes while a turn runs. */
export type SendMode = 'follow_up' | 'steering'

/** A session that is open in the linear mode: what happens in it is told, what is typed goes to it. */
export class OpenSession {
  readonly sessionId: string
  readonly commands: SessionCommands
  readonly #context: LinearContext
  readonly #teller: SessionTeller
  readonly #view: Readable<SessionView>
  #isMade: boolean
  #stop: () => void = () => {}
  #sheet: AnswerSheet | null = null
  #askedAt = 0
  /** What was answered from here, also while the session does not show it yet. */
  #answeredId = ''

  constructor(context: LinearContext, { sessionId, isNew }: { readonly sessionId: string; readonly isNew: boolean }) {
    this.sessionId = sessionId
    this.#context = context
    this.#teller = new SessionTeller(context.selfId)
    this.#view = context.store.session(sessionId)
    this.commands = bindCommands(() => context.store.connection, sessionId)
    this.#isMade = !isNew
    if (isNew) context.out.say('New session. The next line is its first message.')
    else this.#follow()
  }

  /** The session as it is known; null while nothing is. */
  get projection(): SessionProjection | null {
    return this.#view.getSnapshot().projection
  }

  /** The question that is asked now. */
  get sheet(): AnswerSheet | null {
    return this.#sheet
  }

  close(): void {
    this.#stop()
  }

  /** Takes a typed line that is no command: an answer where something is asked, else a message. */
  async take(text: string): Promise<void> {
    const sheet = this.#sheet
    if (sheet === null) {
      if (text.trim() !== '') await this.send(text)
      return
    }
    if (Date.now() - this.#askedAt < LIMITS.linearAnswerGraceMs) {
      this.#say('A question came in just now. If this was the answer, type it again.')
      return
    }
    const filled = sheet.fill(text)
    if (filled.kind === 'misfit') this.#say(filled.why, 'A message goes with /queue or /steer.')
    else if (filled.kind === 'more') this.#say(...sheet.lines)
    else await this.#answer(sheet, filled.answer)
  }

  /** Sends a message; a session that is new is made first. */
  async send(text: string, mode: SendMode = this.#context.options.settings.enterWhileRunning): Promise<void> {
    if (!this.#isMade && !(await this.#make())) return
    const turn = this.projection?.rootTurn ?? null
    const isRunning = turn !== null && !isTerminal(turn.status)
    const placement = mode === 'steering' && isRunning ? 'current_turn' : 'next_turn'
    const outcome = await this.run(commands => commands.submitMessage({ content: { text }, placement }))
    if (!outcome.ok) return
    const { disposition } = outcome.result
    if (disposition === 'turn_started') this.#say('Sent.')
    else this.#say(disposition === 'steering' ? 'It goes to the turn that runs.' : 'It waits for the next turn.')
  }

  /** Declines to answer. */
  async deny(): Promise<void> {
    const sheet = this.#sheet
    if (sheet === null) this.#say('Nothing is asked here.')
    else if (sheet.denial === null) this.#say('This cannot be declined; /stop stops the turn.')
    else await this.#answer(sheet, sheet.denial)
  }

  /** Sends a command; why it was not done is said. */
  async run<T>(command: (commands: SessionCommands) => Promise<T>): Promise<Told<T>> {
    const link = this.#context.store.link.getSnapshot()
    const why = notNowWords(link, 'freshness' in link ? link.freshness : { state: 'offline', asOf: null })
    const outcome: Told<T> =
      why === null ? await outcomeOf(command(this.commands)) : { ok: false, code: 'offline', sentence: why }
    if (!outcome.ok) this.#say(`Not done: ${outcome.sentence}`)
    return outcome
  }

  async #make(): Promise<boolean> {
    const { store, options } = this.#context
    const { backend, cwd } = options
    const outcome = await this.run(async () => {
      const input = { sessionId: this.sessionId, cwd, backend: backend.name }
      return store.connection?.createSession(input)
    })
    if (!outcome.ok) return false
    if (backend.isFallback) this.#say('No agent is configured: the built-in scripted backend echoes.')
    this.#isMade = true
    this.#follow()
    return true
  }

  async #answer(
    sheet: AnswerSheet,
    answer: Parameters<SessionCommands['answerInteraction']>[0]['answer'],
  ): Promise<void> {
    const { interactionId } = sheet.interaction
    this.#sheet = null
    this.#answeredId = interactionId
    const outcome = await this.run(commands => commands.answerInteraction({ interactionId, answer }))
    if (!outcome.ok) this.#answeredId = ''
    this.#ask()
  }

  #follow(): void {
    const look = (): void => {
      this.#say(...this.#teller.tell(this.#view.getSnapshot()))
      this.#ask()
    }
    this.#stop = this.#view.subscribe(look)
    look()
  }

  /** Asks what waits for an answer, one thing at a time, the oldest first. */
  #ask(): void {
    const all = this.projection?.interactions.pending ?? []
    const pending = all.filter(({ interactionId }) => interactionId !== this.#answeredId)
    if (pending.some(({ interactionId }) => interactionId === this.#sheet?.interaction.interactionId)) return
    const [first] = pending
    this.#sheet = first === undefined ? null : new AnswerSheet(first)
    if (this.#sheet === null) return
    this.#askedAt = Date.now()
    const more = pending.length === 1 ? [] : [`${pending.length} things wait for an answer; this is the first.`]
    this.#say(...more, ...this.#sheet.lines)
  }

  #say(...lines: readonly string[]): void {
    this.#context.out.say(...lines)
  }
}
