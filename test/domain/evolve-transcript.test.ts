import { expect, test } from 'vitest'
import { decideEnd } from '../../leader/domain/decide/run.ts'
import { liveEntry, sealTranscript } from '../../leader/domain/evolve/transcript.ts'
import type { LiveEntry } from '../../leader/domain/state.ts'
import type { TranscriptEntry } from '../../schema/entities/transcript.ts'
import type { EventPayloads } from '../../schema/events.ts'
import { LIMITS } from '../../schema/limits.ts'
import { DomainSession } from '../support/domain/domain-session.ts'

function notice(seq: number, bytes = 10): LiveEntry {
  const entry: TranscriptEntry = { seq, id: `n${seq}`, turnId: 't1', at: 1, kind: 'notice', text: 'x' }
  return { entry, bytes }
}

const list = (count: number, bytes?: number): LiveEntry[] =>
  Array.from({ length: count }, (_, i) => notice(i + 1, bytes))

test.each([
  ['nothing under both bounds', list(LIMITS.liveTranscriptEntries), 0],
  ['half of the entries over their bound', list(LIMITS.liveTranscriptEntries + 1), 65],
  ['nothing at the bound of bytes', list(4, LIMITS.liveTranscriptBytes / 4), 0],
  ['half of the bytes over their bound', list(5, LIMITS.liveTranscriptBytes / 4), 3],
  ['all but the newest when that alone is large', [...list(3), notice(4, LIMITS.liveTranscriptBytes)], 3],
  ['never the only one', [notice(1, LIMITS.liveTranscriptBytes * 2)], 0],
])('L3 seals %s', (_what, live, count) => {
  const { transcript, sealed } = sealTranscript(live)
  expect(sealed).toEqual(live.slice(0, count).map(l => l.entry))
  expect(transcript).toEqual(live.slice(count))
  if (count === 0) expect(transcript).toBe(live)
})

test('L3 an entry counts with its bytes as JSON, in UTF-8', () => {
  const { entry } = notice(1)
  expect(liveEntry(entry)).toEqual({ entry, bytes: JSON.stringify(entry).length })
  expect(liveEntry({ ...entry, text: '€' } as TranscriptEntry).bytes).toBe(JSON.stringify(entry).length + 2)
})

function running(): { session: DomainSession; run: { turnId: string; runId: string } } {
  const session = new DomainSession().create()
  return { session, run: session.start('t1') }
}

function call(run: { turnId: string; runId: string }, toolCallId: string): EventPayloads['tool_started'] {
  return { ...run, toolCallId, name: 'edit', title: 'Edit', status: 'pending', input: 'in' }
}

test('L2 a tool entry grows in its place, and an end without output keeps the tail', () => {
  const { session, run } = running()
  session.apply([{ type: 'tool_started', payload: call(run, 'c1') }])
  session.apply([
    {
      type: 'tool_updated',
      payload: { ...run, toolCallId: 'c1', status: 'in_progress', title: 'Edit a', outputTail: 'so far' },
    },
  ])
  session.apply([{ type: 'tool_ended', payload: { ...run, toolCallId: 'c1', status: 'completed', output: null } }])
  expect(session.state.transcript.map(l => l.entry).slice(1)).toEqual([
    {
      seq: 2,
      id: 'tool-4',
      ...run,
      at: 1_030,
      kind: 'tool',
      toolCallId: 'c1',
      name: 'edit',
      title: 'Edit a',
      status: 'completed',
      input: 'in',
      output: 'so far',
      endedAt: 1_050,
    },
  ])
})

test('L2 calls of two runs under one id are two calls; an unknown one changes nothing', () => {
  const { session, run } = running()
  session.apply([{ type: 'tool_started', payload: call(run, 'c1') }])
  const before = session.state.transcript
  session.apply([{ type: 'tool_updated', payload: { ...run, runId: 'other', toolCallId: 'c1', title: 'no' } }])
  session.apply([{ type: 'tool_updated', payload: { ...run, toolCallId: 'c9', title: 'no' } }])
  expect(session.state.transcript).toBe(before)
})

test('L2 every kind of fact that shows has its entry', () => {
  const { session, run } = running()
  const block = { ...run, blockId: 'b1', messageId: 'a1', startedAt: 5, text: 'hello' }
  session.apply([{ type: 'text_sealed', payload: { ...block, kind: 'thinking', offset: 0 } }])
  session.apply([{ type: 'text_sealed', payload: { ...block, blockId: 'b2', kind: 'assistant', offset: 5 } }])
  session.apply([{ type: 'notice_appended', payload: { ...run, entryId: 'n1', text: 'note' } }])
  session.apply([{ type: 'usage_reported', payload: { ...run, usage: { tokens: 1 } } }])
  expect(session.state.transcript.map(l => l.entry).slice(1)).toEqual([
    { seq: 2, id: 'b1', ...run, at: 5, kind: 'thinking', messageId: 'a1', offset: 0, text: 'hello' },
    { seq: 3, id: 'b2', ...run, at: 5, kind: 'assistant', messageId: 'a1', offset: 5, text: 'hello' },
    { seq: 4, id: 'n1', ...run, at: 1_050, kind: 'notice', text: 'note' },
  ])
})

test('X11 L3 T11 a call whose entry was sealed before its turn ends gets its outcome too, once', () => {
  const { session, run } = running()
  for (const id of ['c1', 'c2', 'c3']) session.apply([{ type: 'tool_started', payload: call(run, id) }])
  const notices = LIMITS.liveTranscriptEntries + 10
  for (let i = 0; i < notices; i++) {
    session.apply([{ type: 'notice_appended', payload: { ...run, entryId: `n${i}`, text: 'on and on' } }])
  }
  session.apply([{ type: 'tool_started', payload: call(run, 'c4') }])
  expect(session.state.transcript.some(({ entry }) => entry.kind === 'tool' && entry.toolCallId === 'c1')).toBe(false)
  session.apply([{ type: 'tool_ended', payload: { ...run, toolCallId: 'c2', status: 'completed', output: 'done' } }])
  expect(session.state.root?.sealedCalls).toEqual(['c1', 'c3'])

  session.take(decideEnd(session.state, run, { kind: 'completed' }, { ...session.context(), isDraining: false }))
  const tools = [...session.sealed, ...session.state.transcript.map(({ entry }) => entry)].flatMap(entry =>
    entry.kind === 'tool' ? [[entry.toolCallId, entry.status]] : [],
  )
  expect(tools).toEqual([
    ['c1', 'pending'],
    ['c2', 'pending'],
    ['c3', 'pending'],
    ['c4', 'unknown'],
    ['c2', 'completed'],
    ['c1', 'unknown'],
    ['c3', 'unknown'],
  ])
  expect(session.state.root).not.toHaveProperty('sealedCalls')
})
