import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { InteractionSnapshot } from '../../../schema/entities/interaction.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { summaryOf } from '../../view/interaction-words.ts'
import { type SessionRow, sessionRows, titleOf } from '../../view/session-list.ts'
import { farewellOf } from '../app/farewell.ts'
import type { TuiEnd } from '../options.ts'
import { outcomeOf } from '../session/outcome.ts'
import type { LinearContext } from './linear-context.ts'
import { LinkTeller } from './link-teller.ts'
import { OpenSession } from './open-session.ts'
import { SessionActions } from './session-actions.ts'
import { helpLines, readTyped, type SlashName } from './slash-words.ts'

/** A second Ctrl+C within this leaves. Unit: ms. */
const TWICE_MS = 2_000

/** The linear mode as a conversation: lines that are typed, and lines that are said. */
export class LinearShell {
  readonly #context: LinearContext
  readonly #link = new LinkTeller()
  readonly #stops: (() => void)[] = []
  #leave: () => void = () => {}
  #fail: (error: unknown) => void = () => {}
  #open: { readonly session: OpenSession; readonly actions: SessionActions } | null = null
  /** The sessions that numbers stand for. */
  #listed: readonly string[] = []
  /** The list is said as soon as it is known. */
  #wantsList = false
  #waiting = new Map<string, number>()
  /** The lines of a message of several. */
  #long: string[] | null = null
  #interruptedAt = Number.NEGATIVE_INFINITY

  constructor(context: LinearContext) {
    this.#context = context
  }

  /** Runs until the person leaves or there is nothing more to read. */
  async run(): Promise<TuiEnd> {
    const { options, store } = this.#context
    this.#say(`Headwater ${options.version}, linear mode. /help says what can be typed.`, ...options.problems)
    const look = (): void => this.#lookAround()
    this.#stops.push(store.link.subscribe(look), store.catalog.subscribe(look))
    this.#lookAround()
    if (options.sessionId === undefined) this.#list()
    else this.#enter(options.sessionId)
    await this.#read()
    return this.#end()
  }

  /** Takes one line after the other until there are no more, or the person leaves, whatever a command still waits for. */
  async #read(): Promise<void> {
    const { stdin } = this.#context.options
    const input = createInterface({ input: stdin, terminal: false, crlfDelay: Number.POSITIVE_INFINITY })
    const left = new Promise<void>((resolve, reject) => {
      this.#leave = resolve
      this.#fail = reject
    })
    let waiting = 0
    let tail = Promise.resolve()
    input.on('line', line => {
      if (this.#long === null && line.trim() === '/leave') return this.leave()
      waiting += 1
      if (waiting >= LIMITS.linearTypedLines) input.pause()
      tail = tail.then(async () => {
        await this.#take(line).catch(this.#fail)
        waiting -= 1
        if (waiting === 0) input.resume()
      })
    })
    // What came in before the end is still done.
    const read = once(input, 'close').then(() => tail)
    await Promise.race([left, read])
    input.close()
  }

  /** Ctrl+C: drops a message of several lines; twice leaves. Nothing of the leader's is stopped. */
  interrupt(): void {
    if (performance.now() - this.#interruptedAt < TWICE_MS) {
      this.leave()
      return
    }
    this.#interruptedAt = performance.now()
    if (this.#long !== null) {
      this.#long = null
      this.#say('The message was dropped.')
    }
    this.#say('Control C again leaves; what runs keeps running.')
  }

  leave(): void {
    this.#leave()
  }

  #end(): TuiEnd {
    for (const stop of this.#stops) stop()
    const projection = this.#open?.session.projection ?? null
    this.#open?.session.close()
    this.#context.options.stdin.pause()
    return { exitCode: 0, farewell: farewellOf(projection, this.#context.options.place) }
  }

  async #take(line: string): Promise<void> {
    if (this.#long !== null) return this.#goOn(this.#long, line)
    const typed = readTyped(line)
    if (typed.kind === 'unclear') this.#say(typed.why)
    else if (typed.kind === 'word') await this.#word(typed.name, typed.rest)
    else if (this.#open !== null) await this.#open.session.take(typed.text)
    else if (typed.text.trim() !== '') this.#choose(typed.text.trim())
  }

  async #word(name: SlashName, rest: string): Promise<void> {
    switch (name) {
      case 'help':
        return this.#say(...helpLines(this.#open !== null))
      case 'leave':
        return this.leave()
      case 'sessions':
        return this.#list()
      case 'new':
        return this.#enter(crypto.randomUUID(), true)
      case 'pending':
        return this.#pending()
      case 'retry':
        return this.#context.store.retryNow()
      case 'long':
        if (this.#open === null) break
        this.#long = []
        return this.#say('Type the message; a line with only a dot ends it.')
      default:
        if (this.#open !== null) await this.#open.actions.run(name, rest)
    }
    if (this.#open === null) this.#say('No session is open; /sessions lists them.')
  }

  async #goOn(lines: string[], line: string): Promise<void> {
    if (line !== '.' && lines.length < LIMITS.linearMessageLines) {
      lines.push(line)
      return
    }
    this.#long = null
    if (line !== '.') this.#say('That is too long for one message; it was dropped.')
    else if (lines.some(each => each.trim() !== '')) await this.#open?.session.send(lines.join('\n'))
  }

  #choose(text: string): void {
    const sessionId = /^[1-9]\d{0,3}$/.test(text) ? this.#listed[Number(text) - 1] : undefined
    if (sessionId === undefined) this.#say('Type the number of a session, /new, or /help.')
    else this.#enter(sessionId)
  }

  #enter(sessionId: string, isNew = false): void {
    this.#wantsList = false
    this.#open?.session.close()
    const session = new OpenSession(this.#context, { sessionId, isNew })
    this.#open = { session, actions: new SessionActions(this.#context, session) }
  }

  #leaveSession(): void {
    this.#open?.session.close()
    this.#open = null
  }

  #list(): void {
    this.#leaveSession()
    const { rows } = this.#context.store.catalog.getSnapshot()
    this.#wantsList = rows === null
    if (rows === null) this.#say('The sessions are not known yet; they are listed as soon as they are.')
    else this.#sayList(sessionRows(rows, { now: Date.now() }))
  }

  #sayList(found: readonly SessionRow[]): void {
    const shown = found.slice(0, LIMITS.linearListedSessions)
    this.#listed = shown.map(({ sessionId }) => sessionId)
    const more = found.length - shown.length
    this.#say(
      found.length === 0 ? 'No sessions yet.' : found.length === 1 ? '1 session:' : `${found.length} sessions:`,
      ...shown.map((row, at) => `${at + 1}. ${sessionLine(row)}`),
      ...(more > 0 ? [`and ${more} more; headwater session list has all of them.`] : []),
      found.length === 0 ? '/new starts one.' : 'Type a number to open one, or /new.',
    )
  }

  async #pending(): Promise<void> {
    const { connection, catalog } = this.#context.store
    if (connection === null) return this.#say('There is no leader to ask.')
    const outcome = await outcomeOf(connection.request('interaction.list', {}))
    if (!outcome.ok) return this.#say(outcome.sentence)
    const { interactions } = outcome.result
    if (interactions.length === 0) return this.#say('Nothing waits for an answer.')
    this.#leaveSession()
    this.#listed = interactions.map(({ sessionId }) => sessionId)
    const titles = new Map((catalog.getSnapshot().rows ?? []).map(row => [row.sessionId, titleOf(row)]))
    const line = ({ sessionId, request }: InteractionSnapshot, at: number): string =>
      `${at + 1}. ${titles.get(sessionId) ?? sessionId}: ${summaryOf(request)}`
    this.#say(...interactions.map(line), 'Type a number to go there and answer.')
  }

  #lookAround(): void {
    const { store } = this.#context
    const link = store.link.getSnapshot()
    const catalog = store.catalog.getSnapshot()
    const shown = 'freshness' in link ? link.freshness : catalog.freshness
    const words = this.#link.tell(link, shown.asOf === null ? catalog.freshness : shown, Date.now())
    if (words !== null) this.#say(words)
    if (catalog.rows === null) return
    for (const row of catalog.rows) {
      const before = this.#waiting.get(row.sessionId) ?? 0
      const isHere = this.#open?.session.sessionId === row.sessionId
      if (row.pendingCount > before && !isHere && !this.#wantsList && this.#waiting.size > 0) {
        this.#say(`${titleOf(row)} waits for an answer. /pending goes there.`)
      }
    }
    this.#waiting = new Map(catalog.rows.map(({ sessionId, pendingCount }) => [sessionId, pendingCount]))
    if (this.#wantsList) this.#list()
  }

  #say(...lines: readonly string[]): void {
    this.#context.out.say(...lines)
  }
}

function sessionLine({ title, state, waiting, queue, plan, tasks, activity, depth }: SessionRow): string {
  return [
    title,
    waiting > 1 ? `${state}, ${waiting} questions` : state,
    ...(plan === '' ? [] : [`plan ${plan}`]),
    ...(tasks === '' ? [] : [`${tasks} tasks open`]),
    ...(queue === 0 ? [] : [queue === 1 ? '1 message waits' : `${queue} messages wait`]),
    ...(depth === 0 ? [] : ['a child session']),
    activity === 'now' ? 'active now' : `last active ${activity}`,
  ].join(', ')
}
