import type { RefCommand } from '../../model/reference/commands.ts'
import { explore, type Given, type Happening, snapshotFault } from '../../model/reference/explore.ts'
import { type Bindings, difference, withBindings } from '../../model/reference/match.ts'
import { viewOf } from '../../model/reference/reference.ts'
import { emptyRoot, type RefRoot } from '../../model/reference/state.ts'

const TRACED = 12

/** What a judge says when the leader and the reference part. */
export class Contradiction extends Error {}

/** What a fresh replica sees of every session, in the words of the reference. */
export type Views = ReadonlyMap<string, unknown>

/** Every state the reference may be in, given all that was answered and seen. */
export class Judge {
  /** Counts of what came about. */
  readonly counts: Record<string, number> = {}
  readonly acknowledged: Given[] = []
  roots: readonly RefRoot[]
  readonly #trace: string[] = []

  /** `holdText`: the prompt of runs that do not end by themselves, where the others do. */
  constructor(holdText: string | null = null) {
    this.roots = [emptyRoot(holdText)]
  }

  get root(): RefRoot {
    return this.roots[0] as RefRoot
  }

  say(line: string): void {
    this.#trace.push(line)
  }

  count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1
  }

  fail(why: string): never {
    throw new Contradiction(`${why}\nthe last steps:\n  ${this.#trace.slice(-TRACED).join('\n  ')}`)
  }

  /** Notes commands with what their senders learnt. */
  told(given: readonly Given[], how: string): void {
    for (const one of given) {
      const { command, observed } = one
      const outcome = observed.kind === 'refused' ? observed.code : observed.kind
      this.count(`${command.operation} ${outcome}`)
      this.say(`${how}: ${textOf(command)} → ${outcome}`)
      if (observed.kind === 'ok') this.acknowledged.push(one)
    }
    if (given.length === 0) this.say(how)
  }

  /** The states that the answers allow; fails if there is none. */
  after(happening: Happening): readonly RefRoot[] {
    const found: RefRoot[] = []
    let why = ''
    for (const root of this.roots) {
      const explored = explore(root, happening)
      why = explored.why
      found.push(...explored.roots)
    }
    const [first] = found
    if (first === undefined) this.fail(`no order of the commands explains the answers; ${why}`)
    const fits = found.filter(root => happening.given.every(one => snapshotFault(root, one) === null))
    if (fits.length > 0) return fits
    return this.fail(`the snapshots: ${happening.given.map(one => snapshotFault(first, one)).join('; ')}`)
  }

  /** What keeps every one of these states from looking like what is seen, or null when one does; those that do are kept. */
  keep(roots: readonly RefRoot[], views: Views): string | null {
    const kept: RefRoot[] = []
    let why = ''
    for (const root of roots) {
      const bindings: Bindings = new Map()
      const found = viewDifference(root, views, bindings)
      if (found === null) kept.push(withBindings(root, bindings))
      else why = found
    }
    if (kept.length === 0) return `${why} (${roots.length} possible states)`
    for (const root of kept) for (const session of Object.values(root.sessions)) session.shown = {}
    const byValue = new Map(kept.map(root => [JSON.stringify({ ...root, serial: 0 }), root]))
    this.roots = [...byValue.values()]
    return null
  }
}

const textOf = ({ actor, operation, input }: RefCommand): string =>
  `${actor.surface} ${operation} ${JSON.stringify(input)}`

function viewDifference(root: RefRoot, views: Views, bindings: Bindings): string | null {
  const sessions = Object.values(root.sessions).filter(session => !session.isDeleted)
  const here = sessions.map(session => session.sessionId)
  for (const sessionId of views.keys()) if (!here.includes(sessionId)) return `${sessionId} is there`
  for (const session of sessions) {
    const view = views.get(session.sessionId)
    if (view === undefined) return `${session.sessionId} is not there`
    const expected = viewOf(session)
    const isWhole = root.holdText === null
    const [wanted, seen] = isWhole ? [expected, view] : [withoutText(expected), withoutText(view)]
    const found = difference(wanted, seen, bindings, session.sessionId)
    if (found !== null) return found
  }
  return null
}

/** What a run says by itself is its own affair. */
function withoutText(view: unknown): unknown {
  const { lines, ...rest } = view as { readonly lines: readonly { readonly kind: string }[] }
  return { ...rest, lines: lines.filter(line => line.kind !== 'assistant') }
}
