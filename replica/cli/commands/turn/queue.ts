import type { QueueEntry, QueueProjection } from '../../../../schema/entities/queue.ts'
import { LIMITS } from '../../../../schema/limits.ts'
import type { LeaderConnection } from '../../../client/types.ts'
import { commandText } from '../../../view/command-text.ts'
import { nearest } from '../../../view/nearest.ts'
import { entryWords, parkWords, surfaceWords } from '../../../view/words.ts'
import type { CommandBody, CommandContext, CommandInput, Outcome } from '../../context.ts'
import { CliFailure, usage } from '../../failure.ts'
import { followSession, LOST_AFTER_MS } from '../../follow/followed-session.ts'
import { newId } from '../../ids.ts'
import { readText } from '../../input/text-input.ts'
import { formatInstant } from '../../output/fields.ts'
import { renderTable } from '../../output/table.ts'
import { onNamedSession, resolveSession } from '../../reach/named-session.ts'

const EXAMPLE = 'headwater queue ID list'

/** What a verb works with. */
interface Call {
  readonly context: CommandContext
  readonly connection: LeaderConnection
  readonly sessionId: string
  /** What stands behind the verb. */
  readonly words: readonly string[]
  readonly options: CommandInput['options']
}

const VERBS: Readonly<Record<string, (call: Call) => Promise<Outcome>>> = {
  list,
  edit,
  'take-back': takeBack,
  move,
  steer,
  resume,
  retract,
}

/** What stands behind the entry. */
const WITH: Readonly<Record<string, string>> = { edit: ' "Only the unit tests"', move: ' --before ENTRY' }

/** `headwater queue`. */
export const body: CommandBody = async (context, { args: [typed = '', verb = 'list', ...words], options }) => {
  const run = Object.hasOwn(VERBS, verb) ? VERBS[verb] : undefined
  if (run === undefined) {
    const [near] = nearest(verb, Object.keys(VERBS))
    throw usage(`unknown verb '${verb}'${near === undefined ? '' : `; did you mean ${near}?`}`, EXAMPLE)
  }
  const needsEntry = run !== list && run !== resume && run !== retract
  if (needsEntry && words.length === 0)
    throw usage(`Which entry? ${verb} needs one.`, `headwater queue ID ${verb} ENTRY${WITH[verb] ?? ''}`)
  if (!needsEntry && words.length > 0) throw usage(`${verb} takes no entry.`, `headwater queue ID ${verb}`)
  const connection = await context.connect({ spawn: 'known_root' })
  const sessionId = await resolveSession(context, connection, typed)
  return run({ context, connection, sessionId, words, options })
}

async function readQueue({ context, connection, sessionId }: Call): Promise<QueueProjection> {
  const followed = await followSession(context, connection, sessionId, { lostAfterMs: LOST_AFTER_MS })
  const { queue } = followed.current
  await followed.close()
  return queue
}

async function list(call: Call): Promise<Outcome> {
  const queue = await readQueue(call)
  const { context } = call
  const entries = [...queue.steering, ...queue.followup]
  if (entries.length === 0) context.notices.notice('nothing waits')
  if (queue.parked !== null) {
    const { reason, since } = queue.parked
    const next = commandText(`headwater queue ${call.sessionId} resume`, context.flags)
    context.notices.notice(
      `parked since ${formatInstant(since)} because ${parkWords(reason)}; to let them run: ${next}`,
    )
  }
  const text = renderTable(
    [
      { heading: 'ENTRY' },
      { heading: 'KIND' },
      { heading: 'STATE' },
      { heading: 'FROM' },
      { heading: 'TEXT', canShrink: true },
    ],
    entries.map(entry => [
      entry.entryId,
      kindOf(entry),
      stateOf(entry),
      surfaceWords(entry.submittedBy.surface),
      shownText(entry),
    ]),
    context.out.columns,
  )
  return { result: queue, text: entries.length === 0 ? '' : text }
}

const kindOf = (entry: QueueEntry): string => (entry.placement === 'current_turn' ? 'steer' : 'follow-up')
const stateOf = (entry: QueueEntry): string =>
  entry.heldBy === undefined ? entryWords(entry.state) : `held by ${surfaceWords(entry.heldBy.surface)}`
const shownText = (entry: QueueEntry): string => entry.content.displayText ?? entry.content.text

/** The entry of this id, or whose id alone begins so. */
async function findEntry(call: Call, id = ''): Promise<QueueEntry> {
  const queue = await readQueue(call)
  const entries = [...queue.steering, ...queue.followup]
  const exact = entries.find(({ entryId }) => entryId === id)
  if (exact !== undefined) return exact
  const matching = id === '' ? [] : entries.filter(({ entryId }) => entryId.startsWith(id))
  if (matching.length === 1) return matching[0]!
  if (matching.length > 1) throw usage(`Several entries begin with ${id}.`, EXAMPLE)
  throw new CliFailure('not_found', `No message waits under ${id}; it may have been delivered.`, {
    detail: { entryId: id, entries: entries.map(({ entryId }) => entryId) },
    next: `headwater queue ${call.sessionId}`,
  })
}

const target = ({ sessionId }: Call, { entryId, revision }: QueueEntry) => ({
  sessionId,
  entryId,
  expectedEntryRevision: revision,
})

const EDIT_EXAMPLE = 'headwater queue ID edit ENTRY "Only the unit tests"'

/** A text from stdin may take its time: the entry is held meanwhile, so that it is not sent half edited. Source: Q6. */
async function edit(call: Call): Promise<Outcome> {
  const { context, words } = call
  const isTyped = words.length === 2 && words[1] === '-'
  if (isTyped) return await editHeld(call)
  const text = await readText(context, words.slice(1), EDIT_EXAMPLE)
  return await replaceText(call, await findEntry(call, words[0]), text)
}

async function replaceText(call: Call, entry: QueueEntry, text: string): Promise<Outcome> {
  const { displayText: _, ...kept } = entry.content
  const input = { ...target(call, entry), content: { ...kept, text } }
  return changed(await call.connection.request('queue.edit', input, { signal: call.context.signal }))
}

async function editHeld(call: Call): Promise<Outcome> {
  const { context, connection, words } = call
  const entry = await findEntry(call, words[0])
  const hold = (release: boolean): Promise<unknown> =>
    connection.request('queue.hold', { ...target(call, entry), ...(release ? { release } : {}) })
  await hold(false)
  const renewal = setInterval(() => void hold(false).catch(() => {}), LIMITS.queueHoldMs / 3)
  try {
    return await replaceText(call, entry, await readText(context, words.slice(1), EDIT_EXAMPLE))
  } catch (error) {
    await hold(true).catch(() => {})
    throw error
  } finally {
    clearInterval(renewal)
  }
}

async function takeBack(call: Call): Promise<Outcome> {
  const entry = await findEntry(call, call.words[0])
  const result = await call.connection.request('queue.remove', target(call, entry), { signal: call.context.signal })
  return { result, text: result.entry.content.text }
}

async function move(call: Call): Promise<Outcome> {
  const { before, after } = call.options as { before?: string; after?: string }
  if ((before === undefined) === (after === undefined)) {
    throw usage('Say where to: --before ENTRY or --after ENTRY.', 'headwater queue ID move ENTRY --before ENTRY')
  }
  const entry = await findEntry(call, call.words[0])
  const { entryId } = await findEntry(call, before ?? after)
  const place = before === undefined ? { after: entryId } : { before: entryId }
  const result = await call.connection.request(
    'queue.move',
    { ...target(call, entry), ...place },
    { signal: call.context.signal },
  )
  return changed(result)
}

async function steer(call: Call): Promise<Outcome> {
  const entry = await findEntry(call, call.words[0])
  return changed(await call.connection.request('queue.promote', target(call, entry), { signal: call.context.signal }))
}

async function resume({ context, connection, sessionId }: Call): Promise<Outcome> {
  const result = await onNamedSession(connection, sessionId, () =>
    connection.request('queue.resume', { sessionId }, { signal: context.signal }),
  )
  return { result, text: '' }
}

async function retract({ context, connection, sessionId }: Call): Promise<Outcome> {
  const input = { sessionId, retractId: newId() }
  const result = await onNamedSession(connection, sessionId, () =>
    connection.request('queue.retract', input, { signal: context.signal }),
  )
  return { result, text: result.retracted.map(({ content }) => content.text).join('\n\n') }
}

function changed(result: { readonly queueRevision: number; readonly entry: QueueEntry }): Outcome {
  return { result, text: '' }
}
