import assert from 'node:assert/strict'
import type { LeaderConnection, SessionSubscription } from '../../../replica/client/types.ts'
import type { PermissionRequest } from '../../../schema/entities/interaction.ts'
import { isTerminal, type TurnSnapshot } from '../../../schema/entities/turn.ts'
import { type CliProcess, typeCli } from '../../support/cli/cli-process.ts'
import { waitFor } from '../../support/wait-for.ts'
import type { AskedPermission, StartedTurn, TurnEnd } from './conversation.ts'
import type { Watchers } from './leader-conversation.ts'

const TURN_MS = 60_000

/** The session that a turn is in, and who follows it. */
export interface FollowedSession {
  readonly connection: LeaderConnection
  readonly seen: SessionSubscription
  readonly watchers: Watchers
}

/** A turn that was typed in one terminal and shows in others. */
export class LeaderTurn implements StartedTurn {
  readonly #session: FollowedSession
  readonly #turnId: string
  readonly #prompt: string
  readonly #from: ReadonlyMap<CliProcess, number>
  #asked: { readonly interactionId: string; readonly request: PermissionRequest } | undefined

  private constructor(
    session: FollowedSession,
    turn: { readonly turnId: string; readonly prompt: string; readonly from: ReadonlyMap<CliProcess, number> },
  ) {
    this.#session = session
    this.#turnId = turn.turnId
    this.#prompt = turn.prompt
    this.#from = turn.from
  }

  /** Types the prompt in a terminal of its own. */
  static async send(session: FollowedSession, prompt: string): Promise<LeaderTurn> {
    const { first, second, lines } = session.watchers
    const from = new Map([first, second, lines].map(watcher => [watcher, watcher.screen().length]))
    const told = await typeCli('send', session.seen.current.session.sessionId, prompt)
    const turnId = /turn_started\s+(\S+)/.exec(told)?.[1]
    if (turnId === undefined) throw new Error(`the message started no turn: ${told}`)
    return new LeaderTurn(session, { turnId, prompt, from })
  }

  /** Where this turn begins on a watcher's screen. */
  from(watcher: CliProcess): number {
    return this.#from.get(watcher) ?? 0
  }

  /** What a terminal shows behind the prompt now. */
  shownOn(watcher: CliProcess): string {
    const [, shown = ''] = watcher.screen().slice(this.from(watcher)).split(`› ${this.#prompt}\n\n`)
    return shown
  }

  /** The answer so far, as a replica has it. */
  text(): string {
    const { entries } = this.#session.seen.current.transcript
    return entries
      .map(entry => (entry.kind === 'assistant' && entry.turnId === this.#turnId ? entry.text : ''))
      .join('')
  }

  async waitForText(text: string): Promise<string> {
    await this.#onBothScreens(text)
    await waitFor(() => this.text().includes(text), { what: `text ${text}`, deadlineMs: TURN_MS })
    return this.text()
  }

  /** The question is taken from the screen of the second one, who will answer it. */
  async waitForPermission(): Promise<AskedPermission> {
    const { connection, watchers } = this.#session
    await this.#onBothScreens(/headwater answer \S+ --choose/)
    const screen = watchers.second.screen().slice(this.from(watchers.second))
    const interactionId = /headwater answer (\S+) --choose/.exec(screen)?.[1] ?? ''
    const { request, status } = await connection.request('interaction.query', { interactionId })
    if (request.kind !== 'permission') throw new Error(`the agent asked a ${request.kind}`)
    assert.equal(status, 'pending')
    for (const [i, { label }] of request.options.entries()) assert.ok(screen.includes(`[${i + 1}] ${label}`))
    this.#asked = { interactionId, request }
    return request
  }

  async answerPermission(decision: 'allow' | 'reject'): Promise<void> {
    if (this.#asked === undefined) throw new Error('nothing was asked')
    const { interactionId, request } = this.#asked
    const number = request.options.findIndex(option => option.kind === 'allow_once') + 1
    assert.ok(number > 0, 'the agent offers to allow it once')
    const how = decision === 'allow' ? ['--choose', String(number)] : ['--deny']
    assert.match(await typeCli('answer', interactionId, ...how), /answered by/)
    await this.#onBothScreens('answered by')
  }

  async tools(): Promise<readonly { readonly title: string; readonly status: string }[]> {
    const { entries } = this.#session.seen.current.transcript
    return entries.flatMap(entry => (entry.kind === 'tool' && entry.turnId === this.#turnId ? [entry] : []))
  }

  async stop(): Promise<void> {
    const { seen } = this.#session
    assert.match(await typeCli('interrupt', seen.current.session.sessionId), /turn cancelled: somebody stopped it/)
  }

  /** The same end for whoever asks, looks at a terminal, or reads lines. */
  async ended(): Promise<TurnEnd> {
    const { connection, seen, watchers } = this.#session
    const { sessionId } = seen.current.session
    const ask = async () => {
      const turn = await connection.queryTurn({ sessionId, turnId: this.#turnId })
      return isTerminal(turn.status) ? turn : undefined
    }
    const turn = await waitFor(ask, { what: 'the end of the turn', deadlineMs: TURN_MS })
    await this.#onBothScreens(`— ${wordsOf(turn)}`)
    const ofTurn = new RegExp(`"type":"turn\\.${turn.status}".*"turnId":"${this.#turnId}"`)
    await watchers.lines.seen(ofTurn, { from: this.from(watchers.lines) })
    if (turn.status === 'failed') return { status: 'failed', failureClass: turn.failureClass }
    return { status: turn.status === 'completed' ? 'completed' : 'cancelled' }
  }

  async #onBothScreens(wanted: string | RegExp): Promise<void> {
    const { first, second } = this.#session.watchers
    await Promise.all([first, second].map(watcher => watcher.seen(wanted, { from: this.from(watcher) })))
  }
}

function wordsOf(turn: TurnSnapshot): string {
  if (turn.status === 'failed') return `turn failed: ${turn.failureClass}`
  return turn.status === 'cancelled' ? `turn cancelled (${turn.abortSource})` : `turn ${turn.status}`
}
