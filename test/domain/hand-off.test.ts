import fc from 'fast-check'
import { expect, test } from 'vitest'
import { handOffEntries, joinContents } from '../../leader/domain/decide/admission.ts'
import { decideEnd } from '../../leader/domain/decide/run.ts'
import { normalizeContent } from '../../schema/canonical.ts'
import { Content } from '../../schema/entities/content.ts'
import { LIMITS } from '../../schema/limits.ts'
import type { QueueRecord } from '../../schema/projection/layout.ts'
import { ADA, BOB, DomainSession } from '../support/domain/domain-session.ts'
import { assertProperty, wellFormedString } from '../support/property.ts'

function record(id: string, content: Content, changes: Partial<QueueRecord['entry']> = {}): QueueRecord {
  const base = { placement: 'next_turn', state: 'queued', submittedBy: ADA, revision: 1 } as const
  return { entry: { entryId: id, messageId: id, content, ...base, ...changes }, order: 1 }
}

const ids = (records: readonly QueueRecord[]): readonly string[] => records.map(r => r.entry.entryId)
const file = (name: string) => ({
  kind: 'file' as const,
  name,
  mimeType: 'text/plain',
  bytes: 1,
  ref: { path: `/${name}` },
})

test('Q7 steers go first, then follow-ups, each in order; parked, held and leased ones are passed over', () => {
  const text = { text: 'x' }
  const queue = [
    record('f1', text),
    record('s1', text, { placement: 'current_turn' }),
    record('parked', text, { state: 'parked' }),
    record('leased', text, { placement: 'current_turn', state: 'in_flight' }),
    record('held', text, { heldBy: BOB }),
    record('f2', text, { submittedBy: BOB }),
    record('s2', text, { placement: 'current_turn' }),
  ]
  expect(ids(handOffEntries(queue))).toEqual(['s1', 's2', 'f1', 'f2'])
  expect(handOffEntries([])).toEqual([])
  expect(handOffEntries([record('parked', text, { state: 'parked' })])).toEqual([])
})

test('Q7 texts are joined by an empty line, display texts likewise, lists in a row', () => {
  const quotes = [{ text: 'q', label: 'l' }]
  const joined = joinContents([
    { text: 'one', displayText: 'ONE', attachments: [file('a')] },
    { text: 'two', quotes },
    { text: 'three', attachments: [file('b')], quotes },
  ])
  expect(joined).toEqual({
    text: 'one\n\ntwo\n\nthree',
    displayText: 'ONE\n\ntwo\n\nthree',
    attachments: [file('a'), file('b')],
    quotes: [...quotes, ...quotes],
  })
  expect(joinContents([{ text: 'a' }, { text: 'b' }])).toEqual({ text: 'a\n\nb' })
})

test('Q7 C2 one message alone keeps its content', () => {
  const content = { text: 'one', displayText: 'ONE', attachments: [file('a')] }
  expect(joinContents([content])).toEqual(content)
})

test.each([
  ['text', { text: 'x'.repeat(LIMITS.messageTextBytes / 2) }, 1],
  ['text just under', { text: 'x'.repeat(LIMITS.messageTextBytes / 2 - 1) }, 2],
  ['display text', { text: 'x', displayText: 'y'.repeat(LIMITS.messageTextBytes / 2) }, 1],
  ['attachments', { text: 'x', attachments: ['a', 'b', 'c', 'd', 'e'].map(file) }, 1],
  ['attachments just under', { text: 'x', attachments: ['a', 'b', 'c', 'd'].map(file) }, 2],
  ['quotes', { text: 'x', quotes: Array.from({ length: 9 }, () => ({ text: 'q' })) }, 1],
  ['the whole as JSON', { text: 'x', quotes: [{ text: '"'.repeat(20_000) }] }, 2],
  ['the whole over', { text: 'x', quotes: [{ text: '"'.repeat(25_000) }] }, 1],
])('Q7 C1 the fold stops before a bound: %s', (_bound, content, taken) => {
  const queue = ['m1', 'm2', 'm3'].map(id => record(id, content))
  expect(ids(handOffEntries(queue))).toEqual(['m1', 'm2', 'm3'].slice(0, taken))
})

test('Q7 C1 the fold stops at the first that does not fit: a later small one does not overtake', () => {
  const big = { text: 'x'.repeat(LIMITS.messageTextBytes) }
  expect(ids(handOffEntries([record('m1', { text: 'x' }), record('m2', big), record('m3', { text: 'y' })]))).toEqual([
    'm1',
  ])
})

const content: fc.Arbitrary<Content> = fc.record(
  {
    text: wellFormedString.map(text => `t${text}`.repeat(200)),
    displayText: wellFormedString,
    attachments: fc.array(fc.constantFrom('a', 'b', 'c').map(file), { maxLength: 8 }),
    quotes: fc.array(fc.record({ text: wellFormedString }), { maxLength: 16 }),
  },
  { requiredKeys: ['text'] },
)

test('Q7 C1 whatever waits, what is taken fits one message, keeps every text, and is as long a prefix as fits', () => {
  assertProperty(
    fc.property(fc.array(content, { minLength: 1, maxLength: 12 }), contents => {
      const queue = contents.map((c, i) => record(`m${i}`, normalizeContent(c)))
      const taken = handOffEntries(queue)
      expect(ids(taken)).toEqual(ids(queue).slice(0, taken.length))
      const joined = joinContents(taken.map(r => r.entry.content))
      expect(Content.safeParse(joined).success).toBe(true)
      expect(normalizeContent(joined)).toEqual(joined)
      expect(joined.text).toBe(taken.map(r => r.entry.content.text).join('\n\n'))
      if (taken.length < queue.length) {
        const more = joinContents(queue.slice(0, taken.length + 1).map(r => r.entry.content))
        expect(Content.safeParse(more).success).toBe(false)
      }
    }),
    200,
  )
})

function endTurn(session: DomainSession): void {
  const { turnId, runId } = session.admission
  const context = { ...session.context(), isDraining: false }
  session.take(decideEnd(session.state, { turnId, runId }, { kind: 'completed' }, context))
}

test('Q7 T12 the successor keeps each message as it was sent, whoever sent it', () => {
  const session = new DomainSession().create()
  session.start('t1')
  session.submit('f1', 'next_turn', 'follow', ADA)
  session.submit('s1', 'current_turn', 'steer', BOB)
  endTurn(session)
  expect(session.handOn()).toBe(true)
  const { runId, turnId } = session.admission
  expect(session.admission).toMatchObject({
    userMessageId: `input-${runId}`,
    previousRootTurnId: 't1',
    normalizedInput: { text: 'steer\n\nfollow' },
    submittedBy: null,
    sourceMessages: [
      {
        messageId: 's1',
        content: { text: 'steer' },
        placement: 'current_turn',
        disposition: 'steering',
        submittedBy: BOB,
      },
      {
        messageId: 'f1',
        content: { text: 'follow' },
        placement: 'next_turn',
        disposition: 'followup',
        submittedBy: ADA,
      },
    ],
  })
  expect(session.state.queue).toEqual([])
  const types = session.transitions.at(-1)?.events.map(event => event.type)
  expect(types).toEqual(['queue_handed_on', 'turn_admitted'])
  expect(session.transitions.at(-1)?.events[0]?.payload).toEqual({ entryIds: ['s1', 'f1'], turnId })
})

test('Q7 a message that goes alone stays itself: its id, its sender, its content', () => {
  const session = new DomainSession().create()
  session.start('t1')
  session.submit('f1', 'next_turn', 'alone', BOB)
  endTurn(session)
  session.handOn()
  expect(session.admission).toMatchObject({
    userMessageId: 'f1',
    normalizedInput: { text: 'alone' },
    submittedBy: BOB,
    sourceMessages: [{ messageId: 'f1' }],
  })
})

test('Q7 what did not fit goes with the next hand-off', () => {
  const session = new DomainSession().create()
  session.start('t1')
  const big = 'x'.repeat(LIMITS.messageTextBytes - 10)
  for (const id of ['m1', 'm2', 'm3']) session.submit(id, 'next_turn', big)
  const order: string[] = []
  for (;;) {
    endTurn(session)
    if (!session.handOn()) break
    order.push(...session.admission.sourceMessages.map(m => m.messageId))
    session.startRun()
  }
  expect(order).toEqual(['m1', 'm2', 'm3'])
  expect(session.turns).toHaveLength(4)
})
