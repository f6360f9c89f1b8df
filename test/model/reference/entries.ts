import type { Decide, Verdict } from './commands.ts'
import { canonical, entryView, leave } from './queue.ts'
import type { RefActor, RefContent, RefEntry, RefSession } from './state.ts'

interface Named {
  readonly entryId: string
  readonly expectedEntryRevision: number
}

/** The entry a command names, or the refusal. */
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

/** Counts a change of the queue and gives what the command gives. */
function changed(session: RefSession, entry: RefEntry): Verdict {
  session.revision += 1
  session.queueRevision += 1
  return { result: { queueRevision: session.queueRevision, entry: entryView(entry) } }
}

const edit: Decide = (_root, session, { input }) => {
  const entry = named(session, input)
  if ('code' in entry) return entry
  entry.content = canonical(input.content as RefContent)
  entry.revision += 1
  return changed(session, entry)
}

const remove: Decide = (_root, session, { input }) => {
  const entry = named(session, input)
  if ('code' in entry) return entry
  leave(session, 'removed', one => one === entry)
  return changed(session, entry)
}

const move: Decide = (_root, session, { input }) => {
  const entry = named(session, input)
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

const promote: Decide = (_root, session, { input }) => {
  const entry = named(session, input)
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
  const entry = named(session, input)
  if ('code' in entry) return entry
  return input.release === true ? release(session, entry) : take(session, entry, actor)
}

function take(session: RefSession, entry: RefEntry, actor: RefActor): Verdict {
  const isMine = entry.heldBy?.clientInstanceId === actor.clientInstanceId
  if (entry.heldBy !== undefined && !isMine) return { code: 'operation_conflict' }
  if (isMine) return { result: { queueRevision: session.queueRevision, entry: entryView(entry) } }
  entry.heldBy = actor
  entry.revision += 1
  return changed(session, entry)
}

function release(session: RefSession, entry: RefEntry): Verdict {
  if (entry.heldBy === undefined) return { result: { queueRevision: session.queueRevision, entry: entryView(entry) } }
  delete entry.heldBy
  entry.revision += 1
  session.effects.push({ kind: 'hand_on' })
  return changed(session, entry)
}

/** The commands on one waiting message. */
export const DECIDE_ENTRY: Readonly<Record<string, Decide>> = {
  'queue.edit': edit,
  'queue.remove': remove,
  'queue.move': move,
  'queue.promote': promote,
  'queue.hold': hold,
}
