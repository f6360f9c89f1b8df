import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import type { LeaderConnection } from '../../../replica/client/types.ts'
import { readLedger } from '../live/ledger.ts'
import type { ReadyLeader, TestRoot } from '../live/test-root.ts'
import { type SeededRandom, seededRandom } from '../random.ts'
import { waitFor, within } from '../wait-for.ts'
import {
  checkAlive,
  checkLedger,
  checkReceipts,
  checkRefusals,
  checkSeen,
  checkTranscript,
  withoutPresence,
} from './checks.ts'
import { Journal } from './journal.ts'
import { readFacts } from './ledger-facts.ts'
import { Load, type LoadReplica } from './load.ts'
import { provoke } from './provoke.ts'
import { SeenSession } from './seen-session.ts'
import { CountsTable, type Ending, type Round } from './table.ts'

const REPLICAS = 3
const SESSIONS = 3
/** Rounds a set of sessions is used for; then a new one begins, and the old one is checked as a whole. */
const ROUNDS_PER_SET = 8
const REACH_POINT_MS = 15_000
const AT_ANY_MOMENT: ReadonlySet<Ending> = new Set(['random moment', 'graceful stop', 'mid_recovery'])
const KILLED = { code: null, signal: 'SIGKILL' }

/** A following replica with its sessions, filled as they are created. */
interface Follower extends LoadReplica {
  readonly sessions: Map<string, SeenSession>
}

/**
 * Ends a leader again and again under load from three replicas that stay, and checks after every restart that nothing acknowledged is
 * lost, nothing was executed twice, and everyone sees the same. Source: A2, A5, A6, section X.
 */
export class Campaign {
  readonly table = new CountsTable()
  readonly #root: TestRoot
  readonly #random: SeededRandom
  readonly #journal = new Journal()
  readonly #followers: Follower[] = []
  #leader: ReadyLeader | null = null
  #startedAt = 0
  #sets = 0
  #sessionIds: string[] = []
  #checked = new Map<string, number>()
  #provoked: Promise<string | null> = Promise.resolve(null)

  constructor(root: TestRoot, seed: number) {
    this.#root = root
    this.#random = seededRandom(seed)
  }

  /** Plays the rounds in order, then checks every session once more. */
  async run(rounds: readonly Round[]): Promise<void> {
    await this.#start()
    for (let i = 0; i < REPLICAS; i++) {
      this.#followers.push({ connection: await this.#root.connect(`replica-${i}`), sessions: new Map() })
    }
    for (const [i, round] of rounds.entries()) {
      if (i % ROUNDS_PER_SET === 0) await this.#newSessions()
      await this.#play(round, i)
    }
    await this.#checkSet()
    await this.#leader?.kill()
  }

  get #first(): LeaderConnection {
    return (this.#followers[0] as Follower).connection
  }

  async #newSessions(): Promise<void> {
    await this.#checkSet()
    this.#sets += 1
    this.#sessionIds = Array.from({ length: SESSIONS }, (_, i) => `set${this.#sets}-s${i}`)
    for (const sessionId of this.#sessionIds) {
      await this.#first.createSession({ sessionId, cwd: '/tmp', backend: 'scripted' })
    }
    for (const { connection, sessions } of this.#followers) {
      for (const seen of sessions.values()) await seen.subscription.close()
      sessions.clear()
      for (const sessionId of this.#sessionIds) {
        sessions.set(sessionId, new SeenSession(await connection.openSessionSubscription({ sessionId })))
      }
    }
  }

  /** One life of the leader: load, end, restart (with further deaths while it recovers), settlement, checks. */
  async #play(round: Round, index: number): Promise<void> {
    const { ending, deepest } = round
    const acknowledgedBefore = this.#journal.acknowledged
    if (!AT_ANY_MOMENT.has(ending)) await this.#restartWith(`${ending}:${this.#random.between(1, deepest)}`)
    const isEnded = await this.#loadUntilEnd(ending, index)
    const deaths = ending === 'mid_recovery' ? await this.#dieRecovering() : 0
    await this.#start()
    await this.#settle()
    await this.#check()
    const recovered = this.#readSummary()
    if (ending === 'graceful stop') expect(recovered).toBe(0)
    this.table.count(round, {
      isReached: ending === 'mid_recovery' ? deaths > 0 : isEnded,
      acknowledged: this.#journal.acknowledged - acknowledgedBefore,
      recovered,
    })
  }

  async #start(): Promise<void> {
    this.#startedAt = Date.now()
    this.#leader = await this.#root.start()
    for (const { connection } of this.#followers) connection.retryNow()
  }

  /** The leader gives way to one that will die at this point; that may already happen while it recovers. */
  async #restartWith(crashAt: string): Promise<void> {
    await this.#leader?.kill()
    const spawned = this.#root.spawn({ env: { HEADWATER_CRASH_AT: crashAt } })
    const line = await spawned.ready.catch(() => null)
    if (line !== null) this.#leader = { ...spawned, line }
    else expect(await spawned.exited).toEqual(KILLED)
    for (const { connection } of this.#followers) connection.retryNow()
  }

  /** True when the leader ended as it was to. */
  async #loadUntilEnd(ending: Ending, index: number): Promise<boolean> {
    const leader = this.#leader as ReadyLeader
    const loads = this.#followers.map(
      (follower, i) =>
        new Load(follower, this.#journal, seededRandom(this.#random.between(0, 2 ** 31)), `${index}-${i}`),
    )
    const running = loads.map(load => load.run())
    this.#provoked = provoke(ending, this.#first, this.#journal, index)
    if (ending === 'mid_recovery') await this.#provoked
    const isAtAnyMoment = AT_ANY_MOMENT.has(ending)
    const lifeMs = isAtAnyMoment ? this.#random.between(20, 900) : REACH_POINT_MS
    const endedEarly = await within(leader.exited, lifeMs, 'the crash').catch(() => null)
    const exit = await (ending === 'graceful stop' ? leader.stop() : leader.kill())
    for (const load of loads) load.stop()
    await Promise.all(running)
    const expected = ending === 'graceful stop' ? { code: 0, signal: null } : KILLED
    expect(exit, leader.stderr()).toEqual(expected)
    return isAtAnyMoment ? endedEarly === null : endedEarly !== null
  }

  /** Leaders that die while they recover, each a step further; how many did. Source: X13. */
  async #dieRecovering(): Promise<number> {
    let deaths = 0
    for (const crashAt of ['mid_recovery:1', 'mid_recovery:2', `before_batch:${this.#random.between(1, 4)}`]) {
      const spawned = this.#root.spawn({ env: { HEADWATER_CRASH_AT: crashAt } })
      const isReady = await spawned.ready.then(
        () => true,
        () => false,
      )
      expect(await spawned.kill()).toEqual(KILLED)
      if (!isReady) deaths += 1
    }
    return deaths
  }

  async #settle(): Promise<void> {
    const hostEpoch = (this.#leader as ReadyLeader).line.hostEpoch
    const isUp = ({ connection, sessions }: Follower): boolean =>
      connection.freshness.state === 'live' &&
      connection.hostEpoch === hostEpoch &&
      [...sessions.values()].every(seen => seen.subscription.freshness.state === 'live')
    await waitFor(() => this.#followers.every(isUp), { what: 'every replica live again', deadlineMs: 20_000 })
    const provoked = await within(this.#provoked, 20_000, 'everything given that was to provoke the crash')
    await within(this.#journal.whenSettled(), 20_000, 'an answer to every command')
    if (provoked !== null && !this.#sessionIds.includes(provoked)) this.#sessionIds.push(provoked)
  }

  async #check(): Promise<void> {
    expect((await this.#first.status()).faults).toEqual([])
    for (const sessionId of this.#sessionIds) await this.#checkSession(sessionId)
    expect((await this.#first.request('root.verify', {})).faults).toEqual([])
  }

  /** Replies first: retrying them must not change anything that the other checks look at. */
  async #checkSession(sessionId: string): Promise<void> {
    const issued = this.#journal.of(sessionId)
    checkRefusals(issued)
    await checkReceipts(this.#first, issued.slice(this.#checked.get(sessionId) ?? 0))
    this.#checked.set(sessionId, issued.length)
    await waitFor(() => this.#checkViews(sessionId).then(() => true), { what: `${sessionId} is whole`, everyMs: 50 })
  }

  async #checkViews(sessionId: string): Promise<void> {
    const fresh = await this.#root.connect('checker')
    const subscription = await fresh.openSessionSubscription({ sessionId })
    try {
      const view = subscription.snapshot
      const facts = readFacts(await readLedger(fresh, sessionId))
      expect(facts.revision).toBe(view.revision)
      for (const { sessions } of this.#followers) {
        const seen = sessions.get(sessionId)
        if (seen === undefined) continue
        if (!isDeepStrictEqual(withoutPresence(seen.current), withoutPresence(view))) {
          expect(withoutPresence(seen.current)).toEqual(withoutPresence(view))
        }
        checkSeen(seen, facts)
      }
      expect((await fresh.request('session.get', { sessionId })).session).toEqual(view.session)
      if (view.rootTurn !== null) {
        expect(await fresh.queryTurn({ sessionId, turnId: view.rootTurn.turnId })).toEqual(view.rootTurn)
      }
      checkLedger(facts, view, this.#journal.of(sessionId))
      await checkTranscript(fresh, view)
      checkAlive(view, facts, this.#startedAt)
    } finally {
      await fresh.close()
    }
  }

  /** Every command the set of sessions ever had acknowledged, once more. */
  async #checkSet(): Promise<void> {
    for (const sessionId of this.#sessionIds) {
      this.#checked.set(sessionId, 0)
      await this.#checkSession(sessionId)
    }
  }

  #readSummary(): number {
    const found = /"recovered":(\d+),"quarantined":(\d+)/.exec((this.#leader as ReadyLeader).stderr())
    expect(found?.[2]).toBe('0')
    return Number(found?.[1])
  }
}
