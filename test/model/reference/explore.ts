import type { RefCommand } from './commands.ts'
import { type Bindings, difference, withBindings } from './match.ts'
import { execute, placeOf, type RefReply } from './reference.ts'
import { type RefRoot, type RefSession, snapshotOf } from './state.ts'
import { recover, runEffect } from './turns.ts'

/** What a client learnt of its command: an answer, or none. */
export type Observed =
  | { readonly kind: 'ok'; readonly result: unknown }
  | { readonly kind: 'refused'; readonly code: string }
  | { readonly kind: 'unanswered' }

/** A command with what its sender learnt. */
export interface Given {
  readonly command: RefCommand
  readonly observed: Observed
}

/** What happened in a step. `isOrdered`: the commands were decided in this order. */
export interface Happening {
  readonly given: readonly Given[]
  readonly isOrdered: boolean
  /** How often the leader was killed: while the commands were under way, and then while it recovered. */
  readonly deaths: number
  /** What was not answered was given again, so that it may have been decided after a death. */
  readonly isResent?: boolean
  /** A write failed meanwhile. */
  readonly hasFault: boolean
}

/** Codes that say that nothing of the command is stored. */
const PROVED_ABSENT: ReadonlySet<string> = new Set([
  'persistence_failed',
  'storage_full',
  'rate_limited',
  'host_draining',
])
const MOST = 4_000

/** Every state the root may be in after a step, given what was answered; none: the answers contradict the reference. */
export function explore(before: RefRoot, happening: Happening): { readonly roots: RefRoot[]; readonly why: string } {
  const search = new Search(happening)
  const root = structuredClone(before)
  for (const session of Object.values(root.sessions)) session.shown = shownNow(session)
  search.go(root, happening.given, happening.deaths)
  return { roots: search.found, why: search.why }
}

function shownNow(session: RefSession): Record<string, unknown[]> {
  return Object.fromEntries(session.turns.map(turn => [turn.turnId, [{ ...snapshotOf(session, turn) }]]))
}

class Search {
  readonly found: RefRoot[] = []
  readonly #happening: Happening
  readonly #seen = new Set<string>()
  /** Replies whose snapshot is judged when the step is over. */
  why = 'nothing was explored'

  constructor(happening: Happening) {
    this.#happening = happening
  }

  go(root: RefRoot, rest: readonly Given[], deaths: number): void {
    const key = `${deaths} ${rest.map(one => this.#happening.given.indexOf(one)).join()} ${JSON.stringify(root)}`
    if (this.#seen.has(key) || this.#seen.size > MOST) return
    this.#seen.add(key)
    if (rest.length === 0) this.#finish(root, deaths)
    else if (deaths > 0 && this.#happening.isResent === true) this.go(recovered(root), rest, deaths - 1)
    this.#withEffects(root, rest, deaths)
    const choices = this.#happening.isOrdered ? rest.slice(0, 1) : rest
    for (const one of choices) {
      const others = rest.filter(other => other !== one)
      this.#take(root, one, { rest: others, deaths })
    }
  }

  /** Something that follows by itself comes before the next command. */
  #withEffects(root: RefRoot, rest: readonly Given[], deaths: number): void {
    for (const sessionId of Object.keys(root.sessions)) {
      if (root.sessions[sessionId]?.effects.length === 0) continue
      for (const isLost of this.#happening.hasFault ? [false, true] : [false]) {
        const next = structuredClone(root)
        runEffect(next, next.sessions[sessionId] as RefSession, isLost)
        this.go(next, rest, deaths)
      }
    }
  }

  #take(root: RefRoot, { command, observed }: Given, { rest, deaths }: Ahead): void {
    const isAbsent = observed.kind === 'refused' && PROVED_ABSENT.has(observed.code)
    const isUnknown =
      observed.kind === 'unanswered' || (observed.kind === 'refused' && observed.code === 'outcome_unknown')
    if (isAbsent || isUnknown) this.go(root, rest, deaths)
    if (isAbsent) return
    const next = structuredClone(root)
    const reply = execute(next, command)
    if (isUnknown) {
      this.go(next, rest, deaths)
      return
    }
    const bindings: Bindings = new Map()
    const why = replyDifference(reply, observed, bindings)
    if (why !== null) this.why = `${command.operation}: ${why}`
    else this.go(withBindings(next, bindings), rest, deaths)
  }

  #finish(root: RefRoot, deaths: number): void {
    if (deaths > 0) this.#recover(root, deaths)
    else if (Object.values(root.sessions).every(session => session.effects.length === 0)) this.found.push(root)
  }

  /** What a recovery resumes may have begun before the next death, or not. */
  #recover(root: RefRoot, deaths: number): void {
    const next = recovered(root)
    if (deaths > 1) this.#recover(next, deaths - 1)
    const resumed = structuredClone(next)
    for (const session of Object.values(resumed.sessions)) while (runEffect(resumed, session));
    if (deaths > 1) this.#recover(resumed, deaths - 1)
    else this.found.push(resumed)
  }
}

/** What is still to come in a step. */
interface Ahead {
  readonly rest: readonly Given[]
  readonly deaths: number
}

/** What a leader that was killed leaves to the next one. */
function recovered(root: RefRoot): RefRoot {
  const next = structuredClone(root)
  for (const session of Object.values(next.sessions)) recover(next, session)
  return next
}

/** What is wrong about an answer, or null. The snapshot in it is looked at by `snapshotFault` when the step is over. */
function replyDifference(reply: RefReply, observed: Observed, bindings: Bindings): string | null {
  if (observed.kind !== 'ok') {
    const code = observed.kind === 'refused' ? observed.code : ''
    return !reply.ok && reply.code === code ? null : `expected ${JSON.stringify(reply)}, was refused with ${code}`
  }
  if (!reply.ok) return `expected ${reply.code}, observed ${JSON.stringify(observed.result)}`
  if (reply.turn?.as === 'self') return null
  const { turn: _turn, ...rest } = observed.result as Record<string, unknown>
  return difference(reply.result, withoutTimes(reply.turn === undefined ? observed.result : rest), bindings)
}

const TIMES: ReadonlySet<string> = new Set(['createdAt', 'lastActivityAt', 'at'])

/** A value without the leader's times. */
export function withoutTimes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutTimes)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) => (TIMES.has(key) ? [] : [[key, withoutTimes(member)]])),
  )
}

/** What is wrong about the snapshot in an answer: it must be one the turn went through in this step. */
export function snapshotFault(root: RefRoot, { command, observed }: Given): string | null {
  if (observed.kind !== 'ok') return null
  const snapshot = snapshotIn(observed.result)
  if (snapshot === null) return null
  const seen = root.sessions[placeOf(command)]?.shown[snapshot.turnId] ?? []
  const isShown = seen.some(one => difference(one, snapshot, new Map()) === null)
  return isShown ? null : `${command.operation}: ${JSON.stringify(snapshot)} is none of ${JSON.stringify(seen)}`
}

function snapshotIn(result: unknown): { readonly turnId: string } | null {
  const value = result as { turnId?: string; terminalEventId?: string; status?: string; turn?: { turnId: string } }
  if (value.turn !== undefined) return value.turn
  return value.turnId !== undefined && value.status !== undefined && !('interactionId' in value)
    ? (value as { turnId: string })
    : null
}
