import type { SessionHeader } from '../../../../schema/entities/session.ts'
import { LIMITS } from '../../../../schema/limits.ts'
import type { LeaderConnection } from '../../../client/types.ts'
import { askLine } from '../../answering/ask.ts'
import type { CommandBody, CommandContext } from '../../context.ts'
import { CliFailure } from '../../failure.ts'
import { counts } from '../../output/counts.ts'
import { allSessions } from '../../reach/id-prefix.ts'
import { namedSession } from '../../reach/named-session.ts'

const CONFIRMATION = 'remove'

/** `headwater session remove`: says what will be lost and asks first. A header that changed meanwhile is read again. Source: S5. */
export const body: CommandBody = async (context, { args: [sessionId = ''], options }) => {
  const connection = await context.connect({ spawn: 'known_root' })
  const session = await namedSession(context, connection, sessionId)
  const loss = await describeLoss(context, connection, session)
  if (options.dryRun === true) {
    context.notices.notice(`This would be removed for good: ${loss}.`)
    return { result: { kind: 'dry_run', session }, text: '' }
  }
  await confirm(context, loss)
  for (let attempt = 0; attempt < LIMITS.renameAttempts; attempt++) {
    const { revision } = await namedSession(context, connection, sessionId)
    const input = { sessionId, expectedRevision: revision }
    const result = await connection.request('session.delete', input, { signal: context.signal })
    if (result.kind !== 'deleted') continue
    context.notices.notice(`removed: ${loss}`)
    return { result, text: '' }
  }
  throw new CliFailure('operation_conflict', 'Others keep changing this session; try again.')
}

async function describeLoss(
  context: CommandContext,
  connection: LeaderConnection,
  { sessionId, title }: SessionHeader,
): Promise<string> {
  const input = { sessionId, limit: 1 }
  const { lastSeq } = await connection.request('transcript.page', input, { signal: context.signal })
  const name = title === '' ? `session ${sessionId}` : `session ${sessionId} (${title})`
  const below = await countBelow(context, connection, sessionId)
  const entries = lastSeq === 1 ? '1 entry' : `${lastSeq} entries`
  return below === 0
    ? `${name} with ${entries}`
    : `${name} with ${entries}, and the ${counts(below, 'session')} below it`
}

/** How many sessions go with it: its children and theirs, as far as lists of sessions are read. */
async function countBelow(
  { signal }: CommandContext,
  connection: LeaderConnection,
  sessionId: string,
): Promise<number> {
  const children = new Map<string, string[]>()
  for await (const { sessionId: id, parent } of allSessions(connection, signal)) {
    if (parent === undefined) continue
    const known = children.get(parent.sessionId)
    if (known === undefined) children.set(parent.sessionId, [id])
    else known.push(id)
  }
  const below = new Set<string>([sessionId])
  for (const id of below) for (const child of children.get(id) ?? []) below.add(child)
  return below.size - 1
}

async function confirm(context: CommandContext, loss: string): Promise<void> {
  if (context.flags.yes) return
  const next = 'headwater session remove ID --yes'
  if (!context.canPrompt) {
    throw new CliFailure('input_needed', 'Removing a session needs a confirmation, and nobody can be asked here.', {
      next,
    })
  }
  context.notices.notice(`This is removed for good: ${loss}.`)
  const answer = await askLine(context, `Type ${CONFIRMATION} to go on:`, context.signal)
  if (answer?.trim() !== CONFIRMATION) throw new CliFailure('refused', 'Nothing was removed.', { next })
}
