import type { Decide, Verdict } from './commands.ts'
import { canonical, entryView, leave } from './queue.ts'
import { activeTurn, type RefActor, type RefContent, type RefEntry, type RefSession } from './state.ts'

interface Named {
  readonly entryId: string
  readonly expectedEntryRevision: number
}

/** The entry a command names, whoever holds it, or the refusal. */
function named(session: RefSession, input: object): RefEntry | { readonly code: string } {
  const { entryId, expectedEntryRevision } = input as Named
  if (session.isArchived) return { code: 'session_archived' }
  const entry = session.queue.find(one => one.entryId === entryId)
  if (entry === undefined) {
    return { code: session.fates[entryId] === 'delivered' ? 'already_delivered' : 'not_found' }
  }
  if (entry.state === 'in_flight') return { code: 'already_delivered' }
  return entry.revision === expectedEntryRevision ? entry : { code: 'operation_conflict' }
}

/** The same, where nobody else may hold it. */
function free(session: RefSession, input: object, actor: RefActor): RefEntry | { readonly code: string } {
  const entry = named(session, input)
  if ('code' in entry) return entry
  const isFree = entry.heldBy === undefined || entry.heldBy.clientInstanceId === actor.clientInstanceId
  return isFree ? entry : { code: 'operation_conflict' }
}

/** Counts a change of the queue and gives what the command gives. */
function changed(session: RefSession, entry: RefEntry): Verdict {
  session.revision += 1
  session.queueRevision += 1
  return { result: { queueRevision: session.queueRevision, entry: entryView(entry) } }
}

const edit: Decide = (_root, session, { input, actor }) => {
  const entry = free(session, input, actor)
  if ('code' in entry) return entry
  entry.content = canonical(input.content as RefContent)
  entry.revision += 1
  if (entry.heldBy !== undefined) letGo(session, entry)
  return changed(session, entry)
}

const remove: Decide = (_root, session, { input }) => {
  const entry = named(session, input)
  if ('code' in entry) return entry
  leave(session, 'removed', one => one === entry)
  return changed(session, entry)
}

const move: Decide = (_root, session, { input, actor }) => {
  const entry = free(session, input, actor)
  if ('code' in entry) return entry
  const isBefore = input.before !== undefined
  const anchor = session.queue.find(one => one.entryId === (isBefore ? input.before : input.after))
  if (anchor === undefined) return { code: 'not_found' }
  if (anchor === entry || anchor.placement !== entry.placement) return { code: 'operation_conflict' }
  const rest = session.queue.filter(one => one !== entry)
  rest.splice(rest.indexOf(anchor) + (isBefore ? 0 : 1), 0, entry)
  session.queue = rest
  entry.revision += 1
  return changed(session, entry)
}

const promote: Decide = (_root, session, { input, actor }) => {
  const entry = free(session, input, actor)
  if ('code' in entry) return entry
  if (entry.placement === 'current_turn') {
    return { result: { queueRevision: session.queueRevision, entry: entryView(entry) } }
  }
  entry.placement = 'current_turn'
  session.queue = [...session.queue.filter(one => one !== entry), entry]
  entry.revision += 1
  return changed(session, entry)
}

const hold: Decide = (_root, session, { input, actor }) => {
  const entry = free(session, input, actor)
  if ('code' in entry) return entry
  return input.release === true ? release(session, entry) : take(session, entry, actor)
}

/** Holding again is a renewal. */
function take(session: RefSession, entry: RefEntry, actor: RefActor): Verdict {
  if (entry.heldBy !== undefined) return same(session, entry)
  entry.heldBy = actor
  return changed(session, entry)
}

function release(session: RefSession, entry: RefEntry): Verdict {
  if (entry.heldBy === undefined) return same(session, entry)
  letGo(session, entry)
  return changed(session, entry)
}

function letGo(session: RefSession, entry: RefEntry): void {
  delete entry.heldBy
  if (activeTurn(session) === null) session.effects.push({ kind: 'hand_on' })
}

function same(session: RefSession, entry: RefEntry): Verdict {
  return { result: { queueRevision: session.queueRevision, entry: entryView(entry) } }
}

/** The commands on one waiting message. */
export const DECIDE_ENTRY: Readonly<Record<string, Decide>> = {
  'queue.edit': edit,
  'queue.remove': remove,
  'queue.move': move,
  'queue.promote': promote,
  'queue.hold': hold,
}
