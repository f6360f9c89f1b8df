import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { Level } from 'level'
import { expect, test } from 'vitest'
import { ledgerKey } from '../../leader/log/keys.ts'
import { canonicalJson } from '../../schema/canonical.ts'
import type { TranscriptEntry } from '../../schema/entities/transcript.ts'
import { LIMITS } from '../../schema/limits.ts'
import { HandBackend, type HandRun } from '../support/hand-backend.ts'
import { ADA, BOB, startTestLeader, type TestLeader } from '../support/start-test-leader.ts'
import { waitFor } from '../support/wait-for.ts'

interface Stage {
  readonly leader: TestLeader
  readonly hand: HandBackend
  readonly run: HandRun
}

/** A session whose turn t1 runs. */
async function busy(): Promise<Stage> {
  const hand = new HandBackend()
  const leader = await startTestLeader({ backends: [hand] })
  await leader.create('s', 'hand')
  await leader.startTurn('s', 't1', 'first')
  return { leader, hand, run: await hand.run('t1') }
}

/** The whole transcript, from the newest page back. */
async function transcript(leader: TestLeader, limit: number): Promise<readonly TranscriptEntry[]> {
  let entries: readonly TranscriptEntry[] = []
  for (let before: number | undefined; ; ) {
    const page = await leader.ok('transcript.page', {
      sessionId: 's',
      limit,
      ...(before === undefined ? {} : { before }),
    })
    expect(page.entries.length).toBeLessThanOrEqual(limit)
    expect([page.firstSeq, page.lastSeq]).toEqual([page.entries[0]?.seq, page.entries.at(-1)?.seq])
    entries = [...page.entries, ...entries]
    if (!page.hasMore) return entries
    before = page.firstSeq
  }
}

test('L1 A8 every transition is a record: contiguous, chained by hash, with who and what', async () => {
  const { leader, hand, run } = await busy()
  await run.context.notice('noted')
  await leader.ok('session.update', { sessionId: 's', expectedRevision: 2, patch: { title: 'T' } }, BOB)
  await leader.restart({ backends: [hand] })
  await leader.startTurn('s', 't2', 'second')
  const records = await leader.ledger('s')
  let prevHash = `sha256:${'0'.repeat(64)}`
  for (const [i, { hash, ...record }] of records.entries()) {
    expect(record).toMatchObject({ revision: i + 1, prevHash })
    expect(record.events.length).toBeGreaterThan(0)
    expect(hash).toBe(`sha256:${createHash('sha256').update(canonicalJson(record)).digest('hex')}`)
    prevHash = hash
  }
  const byType = (type: string) => records.find(record => record.events.some(event => event.type === type))
  expect(byType('session_created')?.actor).toEqual(ADA)
  expect(byType('run_started')?.actor).toBe('leader')
  expect(byType('notice_appended')?.actor).toBe('run')
  expect(records.filter(record => record.actor !== 'run').map(record => record.actor)).toContainEqual(BOB)
  expect(new Set(records.map(record => record.epochNumber)).size).toBe(2)
  const page = await leader.ok('ledger.page', { sessionId: 's', after: 2, limit: 2 })
  expect(page).toEqual({ records: records.slice(2, 4), nextAfter: 4 })
  expect((await leader.refused('ledger.page', { sessionId: 'nobody', limit: 1 })).code).toBe('not_found')
})

test('L2 the transcript carries what was said, thought, done and asked, in order', async () => {
  const { leader, run } = await busy()
  const { context } = run
  await context.thinking('hm')
  await context.text('Let me ')
  await context.text('see.')
  await context.toolStart({ toolCallId: 'c1', name: 'read', title: 'Read a', input: '{"path":"a"}' })
  await context.toolEnd({ toolCallId: 'c1', status: 'completed', output: 'content' })
  await context.notice('noted')
  const asked = context.ask({ questions: [{ question: 'Which?', options: [] }] })
  const [pending] = await waitFor(async () => {
    const { interactions } = await leader.ok('interaction.list', {})
    return interactions.length > 0 ? interactions : null
  })
  const interactionId = pending?.interactionId as string
  await leader.ok('interaction.answer', { interactionId, answer: { kind: 'question', answers: [null] } })
  await asked
  await context.text('Done.')
  run.complete()
  await leader.ended('s', 't1')
  const keys = { id: expect.any(String), turnId: 't1', runId: context.runId, at: expect.any(Number) }
  const text = { messageId: expect.any(String), offset: 0 }
  expect(await transcript(leader, 100)).toEqual([
    { seq: 1, ...keys, kind: 'user', content: { text: 'first' }, submittedBy: ADA },
    { seq: 2, ...keys, kind: 'thinking', ...text, text: 'hm' },
    { seq: 3, ...keys, kind: 'assistant', ...text, text: 'Let me see.' },
    {
      seq: 4,
      ...keys,
      kind: 'tool',
      toolCallId: 'c1',
      name: 'read',
      title: 'Read a',
      status: 'completed',
      input: '{"path":"a"}',
      output: 'content',
      endedAt: expect.any(Number),
    },
    { seq: 5, ...keys, kind: 'notice', text: 'noted' },
    {
      seq: 6,
      ...keys,
      id: interactionId,
      kind: 'interaction',
      interactionId,
      request: { kind: 'question', questions: [{ question: 'Which?', options: [] }] },
      outcome: { kind: 'answer', answer: { kind: 'question', answers: [null] }, by: ADA, at: expect.any(Number) },
    },
    { seq: 7, ...keys, kind: 'assistant', ...text, text: 'Done.' },
  ])
})

test('L3 the live document keeps the newest entries; older ones are paged without a gap or a double', async () => {
  const { leader, hand, run } = await busy()
  const count = LIMITS.liveTranscriptEntries * 3
  await Promise.all(Array.from({ length: count }, (_, i) => run.context.notice(`n${i}`)))
  for (let i = 0; i < 12; i++) await run.context.notice(`${i}:${'x'.repeat(30 * 1024)}`)
  const expected = Array.from({ length: count + 13 }, (_, i) => i + 1)
  for (const limit of [200, 64, 7]) {
    const entries = await transcript(leader, limit)
    expect(entries.map(entry => entry.seq)).toEqual(expected)
    if (limit === 200)
      expect(entries.slice(1, count + 1)).toMatchObject(expected.slice(0, count).map(i => ({ text: `n${i - 1}` })))
  }
  await leader.close()
  const live = await leader.offline(store => store.readSession('s'))
  expect(live.transcript.entries.length).toBeLessThanOrEqual(LIMITS.liveTranscriptEntries)
  expect(Buffer.byteLength(JSON.stringify(live.transcript.entries))).toBeLessThanOrEqual(
    LIMITS.liveTranscriptBytes * 1.01,
  )
  expect(live.transcript).toMatchObject({ hasMore: true, lastSeq: count + 13 })
  await leader.start({ backends: [hand] })
  expect((await transcript(leader, 200)).map(entry => entry.seq)).toEqual(expected)
  expect((await leader.ok('root.verify', {})).faults).toEqual([])
  const none = await leader.ok('transcript.page', { sessionId: 's', before: 1, limit: 5 })
  expect(none).toMatchObject({ entries: [], hasMore: false })
  expect(await leader.refused('transcript.page', { sessionId: 's', limit: 201 })).toMatchObject({
    code: 'invalid_request',
    detail: { path: 'limit' },
  })
})

test('L4 streamed text makes no record until its block is sealed, at its end or at 16 KiB', async () => {
  const { leader, run } = await busy()
  const revision = await leader.revision('s')
  for (const piece of ['one ', 'two ', 'three']) await run.context.text(piece)
  expect(await leader.revision('s')).toBe(revision)
  const big = 'x'.repeat(LIMITS.textBlockBytes)
  await run.context.text(big)
  run.complete()
  await leader.ended('s', 't1')
  const sealed = (await leader.ledger('s')).flatMap(r => r.events).filter(e => e.type === 'text_sealed')
  const text = `one two three${big}`
  expect(sealed.map(e => e.payload.text)).toEqual([
    text.slice(0, LIMITS.textBlockBytes),
    text.slice(LIMITS.textBlockBytes),
  ])
  expect(sealed.map(e => e.payload.offset)).toEqual([0, LIMITS.textBlockBytes])
  expect(new Set(sealed.map(e => e.payload.messageId)).size).toBe(1)
})

test('L5 a long tool output is an artifact, referred to with size and preview; what a user sends is not', async () => {
  const { leader, run } = await busy()
  const output = 'line of output\n'.repeat(4_000)
  const { context } = run
  await context.toolStart({ toolCallId: 'c1', name: 'run', title: 'Run' })
  await context.toolEnd({ toolCallId: 'c1', status: 'completed', output })
  const entries = await transcript(leader, 10)
  const reference = (entries.at(-1) as Extract<TranscriptEntry, { kind: 'tool' }>).output
  const artifact = `sha256:${createHash('sha256').update(output).digest('hex')}`
  expect(reference).toEqual({ artifact, bytes: output.length, preview: output.slice(0, LIMITS.artifactPreviewBytes) })
  const got = await leader.http('GET', `/v1/artifacts/${artifact}`)
  expect([got.status, got.body.toString()]).toEqual([200, output])
  const long = 'y'.repeat(40 * 1024)
  await leader.submit('s', 'm1', 'next_turn', long)
  run.complete()
  await waitFor(async () => (await transcript(leader, 10)).length === 3)
  expect((await transcript(leader, 10)).at(-1)).toMatchObject({ kind: 'user', content: { text: long } })
})

test('T9 L2 a call that a run leaves open is unknown when the turn ends', async () => {
  const { leader, run } = await busy()
  await run.context.toolStart({ toolCallId: 'c1', name: 'run', title: 'Run' })
  run.fail(new Error('broken'))
  await leader.ended('s', 't1')
  expect((await transcript(leader, 10)).at(-1)).toMatchObject({ kind: 'tool', status: 'unknown' })
})

test('A7 L3 a page ends early where it would be too large to send, and paging goes on from there', async () => {
  const { leader, run } = await busy()
  const text = 'é'.repeat(15_000)
  const sent = Array.from({ length: 50 }, (_, i) => `${i} ${text}`)
  for (const words of sent) await run.context.notice(words)
  const page = await leader.ok('transcript.page', { sessionId: 's', limit: LIMITS.transcriptPageEntries })
  expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThan(LIMITS.pageBytes + 1024)
  expect([page.entries.length < sent.length, page.entries.length > 0, page.hasMore]).toEqual([true, true, true])
  const entries = await transcript(leader, LIMITS.transcriptPageEntries)
  expect(entries.map(entry => entry.seq)).toEqual(entries.map((_, i) => i + 1))
  expect(entries.flatMap(entry => (entry.kind === 'notice' ? [entry.text] : []))).toEqual(sent)
  const whole = await leader.ledger('s')
  const records = await leader.ok('ledger.page', { sessionId: 's', limit: LIMITS.ledgerPageRecords })
  expect(Buffer.byteLength(JSON.stringify(records))).toBeLessThan(LIMITS.pageBytes + 1024)
  expect(records.nextAfter).toBe(records.records.at(-1)?.revision)
  expect(whole.map(record => record.revision)).toEqual(whole.map((_, i) => i + 1))
})

test('L1 a ledger page after any revision there could be is a page, empty behind the newest record', async () => {
  const { leader } = await busy()
  for (const after of [1_000, 999_999_999_999, 1_000_000_000_000, Number.MAX_SAFE_INTEGER]) {
    expect(await leader.ok('ledger.page', { sessionId: 's', after, limit: 10 })).toEqual({
      records: [],
      nextAfter: null,
    })
  }
})

test('D1 a ledger that lacks a record is given up to the gap and no further', async () => {
  const { leader, run } = await busy()
  for (const words of ['a', 'b', 'c']) await run.context.notice(words)
  const whole = await leader.ledger('s')
  await leader.close()
  const database = new Level<string, Uint8Array>(join(leader.root, 'database'), { valueEncoding: 'view' })
  await database.del(ledgerKey('s', 3), { sync: true })
  await database.close()
  await leader.start()
  const page = await leader.ok('ledger.page', { sessionId: 's', limit: 200 })
  expect(page.records).toEqual(whole.slice(0, 2))
  const refused = await leader.refused('ledger.page', { sessionId: 's', after: 2, limit: 200 })
  expect(refused).toMatchObject({ code: 'session_damaged', detail: { kind: 'ledger_gap', revision: 3 } })
})
