import { expect } from 'vitest'
import type { LeaderConnection } from '../../../replica/client/types.ts'
import type { Input } from '../../../schema/commands/index.ts'
import type { SessionProjection } from '../../../schema/entities/projection.ts'
import type { TextEntry, TranscriptEntry } from '../../../schema/entities/transcript.ts'
import { isTerminal } from '../../../schema/entities/turn.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { acknowledged, type Issued, isSameReply, withoutTrace } from './journal.ts'
import { type LedgerFacts, repeated, type TurnStory } from './ledger-facts.ts'
import type { SeenSession } from './seen-session.ts'

/** Refusals that a correct leader may give this load. */
const EXPECTED_REFUSALS = [
  'session_busy',
  'queue_full',
  'not_found',
  'already_delivered',
  'already_resolved',
  'operation_conflict',
  'offline',
  'host_not_ready',
  'host_draining',
]

/** No command was refused for a reason of the leader's own. */
export function checkRefusals(issued: readonly Issued[]): void {
  const strange = issued.flatMap(({ operation, identity, outcome }) =>
    outcome.kind === 'refused' && !EXPECTED_REFUSALS.includes(outcome.code)
      ? [{ operation, identity, code: outcome.code }]
      : [],
  )
  expect(strange).toEqual([])
}

/** Commands a check has on their way at once. */
const CHECKED_AT_ONCE = 256

/** Every acknowledged reply is still what `receipt.query` and a retry give; a refusal left nothing. Source: A2, A3, A5. */
export async function checkReceipts(connection: LeaderConnection, issued: readonly Issued[]): Promise<void> {
  const query = ({ operation, sessionId, identity }: Issued) =>
    connection.request('receipt.query', { sessionId, operation, id: identity })
  await inPieces(acknowledged(issued), async ({ issued, result }) => {
    const { operation, identity, input } = issued
    const [receipt, again] = await Promise.all([
      query(issued),
      connection.request(operation, input as Input<typeof operation>),
    ])
    const known = { operation, identity, result }
    if (!isSameReply(operation, result, again)) expect({ ...known, result: again }).toEqual(known)
    expect({ identity, stored: receipt.stored }).toEqual({ identity, stored: true })
    if (operation !== 'interaction.answer' && !isSameReply(operation, result, receipt.result)) {
      expect({ ...known, result: receipt.result }).toEqual(known)
    }
  })
  await inPieces(withoutTrace(issued), async issued => {
    const { identity } = issued
    expect({ identity, ...(await query(issued)) }).toEqual({ identity, stored: false })
  })
}

async function inPieces<T>(list: readonly T[], check: (item: T) => Promise<void>): Promise<void> {
  for (let i = 0; i < list.length; i += CHECKED_AT_ONCE) {
    await Promise.all(list.slice(i, i + CHECKED_AT_ONCE).map(check))
  }
}

/** Nothing was executed twice, and nothing accepted is gone. Source: A5, A6, T6, T11, Q1. */
export function checkLedger(facts: LedgerFacts, view: SessionProjection, issued: readonly Issued[]): void {
  expect({ admittedTwice: repeated(facts.admitted) }).toEqual({ admittedTwice: [] })
  expect({ executedTwice: repeated(facts.executed) }).toEqual({ executedTwice: [] })
  expect({ settledTwice: repeated(facts.settled) }).toEqual({ settledTwice: [] })
  expect({ leftTwice: repeated(facts.left.map(({ entryId }) => entryId)) }).toEqual({ leftTwice: [] })
  let previous: string | null = null
  for (const turnId of facts.admitted) {
    const story = facts.turns.get(turnId) as TurnStory
    expect(story.admission.previousRootTurnId).toBe(previous)
    checkTurn(story, turnId === view.rootTurn?.turnId ? view : null)
    previous = turnId
  }
  const queued = [...view.queue.steering, ...view.queue.followup].map(entry => entry.entryId)
  const left = facts.left.map(({ entryId }) => entryId)
  expect([...left, ...queued].sort()).toEqual([...facts.added].sort())
  checkAcknowledged(facts, issued)
}

function checkTurn(story: TurnStory, shown: SessionProjection | null): void {
  const { turnId, userMessageId } = story.admission
  const isOver = shown === null || isTerminal(shown.rootTurn?.status ?? 'admitted')
  const counts = { turnId, starts: story.startedAt.length, ends: story.terminals.length }
  const expected = { turnId, starts: isOver ? 1 : expect.any(Number), ends: isOver ? 1 : 0 }
  expect(counts).toEqual(expected)
  expect(story.startedAt.length).toBeLessThanOrEqual(1)
  expect(story.userMessages).toEqual(story.startedAt.length === 0 ? [] : [userMessageId])
  const text = story.admission.normalizedInput?.text ?? ''
  if (story.terminals[0] !== 'run_completed' || text.startsWith('/')) return
  const reply = [...story.texts.values()].join('')
  expect({ turnId, reply }).toEqual({
    turnId,
    reply: text + story.steers.map(steer => `\n\nsteered: ${steer}`).join(''),
  })
}

function checkAcknowledged(facts: LedgerFacts, issued: readonly Issued[]): void {
  const known = new Set([...facts.executed, ...facts.added])
  for (const { operation, identity, outcome } of issued) {
    if (outcome.kind === 'pending') throw new Error(`${operation} ${identity} has no answer`)
    const isStored = outcome.kind === 'acknowledged'
    if (operation === 'turn.start') {
      expect({ identity, isAdmitted: facts.turns.has(identity) }).toEqual({ identity, isAdmitted: isStored })
    }
    if (operation === 'turn.message.submit') {
      expect({ identity, isKnown: known.has(identity) }).toEqual({ identity, isKnown: isStored })
    }
  }
}

/** Nothing a replica was ever shown is gone. Source: A2. */
export function checkSeen(seen: SeenSession, facts: LedgerFacts): void {
  expect(seen.disorders).toEqual([])
  expect(facts.revision).toBeGreaterThanOrEqual(seen.revision)
  const kept = new Map([...facts.turns.values()].flatMap(turn => [...turn.texts]))
  for (const entry of openEntries(seen.current)) {
    const sealed = kept.get(entry.messageId) ?? ''
    kept.set(entry.messageId, sealed.slice(0, entry.offset) + entry.text)
  }
  for (const [messageId, text] of seen.texts) {
    const found = (kept.get(messageId) ?? '').slice(0, text.length)
    expect({ messageId, text: found }).toEqual({ messageId, text })
  }
}

function openEntries({ transcript }: SessionProjection): readonly TextEntry[] {
  return transcript.entries.filter((entry): entry is TextEntry => 'isStreaming' in entry && entry.isStreaming === true)
}

/** What is shown as running, streaming or about to run was brought about by the leader that lives now. Source: X1, X10, L4, Q9. */
export function checkAlive(view: SessionProjection, facts: LedgerFacts, leaderStartedAt: number): void {
  const { rootTurn, queue } = view
  const isOver = rootTurn === null || isTerminal(rootTurn.status)
  if (isOver) expect(openEntries(view)).toEqual([])
  const startedAt = facts.turns.get(rootTurn?.turnId ?? '')?.startedAt[0]
  if (!isOver && startedAt !== undefined) {
    expect(startedAt, `${rootTurn.turnId} is ${rootTurn.status}`).toBeGreaterThanOrEqual(leaderStartedAt)
  }
  for (const { entryId, state } of [...queue.steering, ...queue.followup]) {
    if (state === 'parked') continue
    expect(facts.awakeAt.get(entryId), `${entryId} is ${state}`).toBeGreaterThanOrEqual(leaderStartedAt)
  }
}

/** The whole transcript has no gap and no duplicate, and its end is what the document shows. Source: L2, L3. */
export async function checkTranscript(connection: LeaderConnection, view: SessionProjection): Promise<void> {
  const entries: TranscriptEntry[] = []
  for (let before: number | undefined; ; ) {
    const page = await connection.transcript(view.session.sessionId, {
      limit: LIMITS.transcriptPageEntries,
      ...(before === undefined ? {} : { before }),
    })
    entries.unshift(...page.entries)
    before = page.firstSeq
    if (!page.hasMore) break
  }
  expect(entries.map(entry => entry.seq)).toEqual(entries.map((_, i) => i + 1))
  expect(repeated(entries.map(entry => entry.id))).toEqual([])
  // Open blocks are in the document alone until they are sealed.
  const open: readonly TranscriptEntry[] = openEntries(view)
  const tail = view.transcript.entries.filter(entry => !open.includes(entry))
  expect(entries.slice(entries.length - tail.length)).toEqual(tail)
}

/** A projection without what is not part of the document: who else looks at it. */
export function withoutPresence(view: SessionProjection): Omit<SessionProjection, 'presence' | 'presenceCount'> {
  const { presence: _presence, presenceCount: _count, ...rest } = view
  return rest
}
