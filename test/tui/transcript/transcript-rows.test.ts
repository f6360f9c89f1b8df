import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { TranscriptRow } from '../../../replica/view/transcript/row.ts'
import { createRowModel } from '../../../replica/view/transcript/row-model.ts'
import { rowText, wholeText } from '../../../replica/view/transcript/row-text.ts'
import { toolStateWords, toolTitle } from '../../../replica/view/transcript/tool-words.ts'
import { type TurnViews, withTurn } from '../../../replica/view/transcript/turn-views.ts'
import { beginningWords, nextWords, outcomeWords } from '../../../replica/view/transcript/turn-words.ts'
import type { TranscriptEntry } from '../../../schema/entities/transcript.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { anyString, assertProperty } from '../../support/property.ts'
import { EntryWriter, NOON, OTHER, SELF, turnOf } from '../../support/tui/entries.ts'

const NO_TURNS: TurnViews = new Map()

function rowsOf(
  entries: readonly TranscriptEntry[],
  turns: TurnViews = NO_TURNS,
  hasMore = false,
): readonly TranscriptRow[] {
  return createRowModel('me').rows({ entries, hasMore, turns })
}

const kinds = (rows: readonly TranscriptRow[]): string[] => rows.map(({ kind }) => kind)

test('experience 6.5 a turn has a head that says who, when, how long and how it came out', () => {
  const write = new EntryWriter()
  const entries = [write.user('hello'), write.text('hi'), write.tool('a.ts', { endedAt: NOON + 65_000 })]
  const running = withTurn(NO_TURNS, turnOf('t1', 'running'), NOON + 2_000)
  const done = withTurn(running, turnOf('t1', 'completed'), NOON + 43_000)
  const head = (turns: TurnViews) => {
    const [row] = rowsOf(entries, turns)
    return row?.kind === 'turn' ? [beginningWords(row), outcomeWords(row)] : []
  }
  expect(head(running)).toEqual(['you · 2026-05-04 12:00', 'running'])
  expect(head(done)).toEqual(['you · 2026-05-04 12:00', 'completed · 0:42'])
  expect(head(withTurn(NO_TURNS, turnOf('t1', 'completed'), NOON))).toEqual([
    'you · 2026-05-04 12:00',
    'completed · over 1:04',
  ])
})

test('experience 6.5 a turn that failed says behind its last entry why, and what can be done next', () => {
  const write = new EntryWriter()
  const entries = [write.user('hello'), write.text('hi')]
  const turns = withTurn(NO_TURNS, turnOf('t1', { failed: 'rate_limit' }), NOON)
  write.turnId = 't2'
  const rows = rowsOf([...entries, write.user('again')], turns)
  expect(kinds(rows)).toEqual(['turn', 'user', 'assistant', 'end', 'turn', 'user'])
  expect(rowText(rows[3] as TranscriptRow)).toBe(
    'Turn failed: the agent was asked too often\nWait a little, then send the message again.',
  )
  expect(nextWords(turnOf('t1', { failed: 'constructor' }) as never)).toContain('headwater logs')
  expect(nextWords(turnOf('t1', { cancelled: 'user_stop' }) as never)).toContain('send a message')
})

test('experience 6.5 pieces of a message are one row, up to a bound; a gap, a tool or another message ends it', () => {
  const write = new EntryWriter()
  const a = write.text('abc', { messageId: 'm' })
  const b = write.text('def', { messageId: 'm', offset: 3 })
  const gap = write.text('xyz', { messageId: 'm', offset: 9 })
  const thought = write.text('t', { messageId: 'm', offset: 12, kind: 'thinking' })
  const tool = write.tool('a.ts')
  const after = write.text('end', { messageId: 'm', offset: 13 })
  expect(
    rowsOf([a, b, gap, thought, tool, after])
      .slice(1)
      .map(row => ('pieces' in row ? row.pieces : row.kind)),
  ).toEqual([[a, b], [gap], [thought], 'tool', [after]])
  const long = Array.from({ length: 20 }, (_, index) =>
    write.text('x'.repeat(16_384), { messageId: 'l', offset: index * 16_384 }),
  )
  expect(
    rowsOf(long)
      .slice(1)
      .map(row => ('pieces' in row ? row.pieces.length : 0)),
  ).toEqual([LIMITS.transcriptRowChars / 16_384, 4])
})

test('experience 6.5 the author of a message is told where the head of the turn does not say it', () => {
  const write = new EntryWriter()
  const entries = [
    write.user('a'),
    write.user('b', { submittedBy: OTHER }),
    write.user('c', { isSteering: true }),
    write.user('d'),
    write.user('e', { submittedBy: null }),
  ]
  const rows = rowsOf(entries)
  expect(rows.map(row => (row.kind === 'turn' || row.kind === 'user' ? row.by : ''))).toEqual([
    'you',
    null,
    'laptop',
    'you',
    null,
    'the session that started it',
  ])
  expect(rowText(rows[3] as TranscriptRow)).toBe('Steering message from you: c')
})

test('experience 6.5 a turn whose beginning was not read has no head; a decision about a plan begins no turn', () => {
  const write = new EntryWriter()
  const first = write.text('middle of it')
  const entries = [first, write.plan('Plan approved: x', { turnId: 't0', by: SELF }), write.text('more')]
  expect(kinds(rowsOf(entries, NO_TURNS, true))).toEqual(['assistant', 'plan', 'assistant'])
  expect(kinds(rowsOf(entries, NO_TURNS, false))).toEqual(['turn', 'assistant', 'plan', 'assistant'])
})

test('experience 6.5 a delta makes one new row and leaves the others the same objects', () => {
  const write = new EntryWriter()
  const model = createRowModel('me')
  const head = [write.user('a'), write.tool('b'), write.text('c', { messageId: 'm1' })]
  const block = write.text('st', { messageId: 'm2', isStreaming: true })
  const before = model.rows({ entries: [...head, block], hasMore: false, turns: NO_TURNS })
  const after = model.rows({ entries: [...head, { ...block, text: 'stre' }], hasMore: false, turns: NO_TURNS })
  expect(after.map((row, index) => row === before[index])).toEqual([true, true, true, true, false])
  expect(
    model.rows({
      entries: [...head, (after[4] as Extract<TranscriptRow, { pieces: unknown }>).pieces[0] as TranscriptEntry],
      hasMore: false,
      turns: NO_TURNS,
    }),
  ).toBe(after)
})

test('experience 6.5 whatever comes before or behind, the rows are those of all entries read at once, and stay the same objects', () => {
  const anyKind = fc.constantFrom('user', 'text', 'more', 'thinking', 'tool', 'notice', 'plan', 'turn')
  assertProperty(
    fc.property(
      fc.array(anyKind, { maxLength: 30 }),
      fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 5 })), { maxLength: 12 }),
      (made, steps) => {
        const all = entriesOf(made)
        const turns = withTurn(withTurn(NO_TURNS, turnOf('t0', { failed: 'auth' }), 0), turnOf('t2', 'completed'), 0)
        const model = createRowModel('me')
        let from = Math.floor(all.length / 2)
        let to = from
        let before = new Map<string, TranscriptRow>()
        for (const [isPage, count] of steps) {
          if (isPage) from = Math.max(0, from - count)
          else to = Math.min(all.length, to + count)
          const input = { entries: all.slice(from, to), hasMore: from > 0, turns }
          const rows = model.rows(input)
          expect(rows).toEqual(createRowModel('me').rows(input))
          const same = rows.filter(row => isDeepStrictEqual(before.get(row.id), row))
          for (const row of same) expect(row).toBe(before.get(row.id))
          before = new Map(rows.map(row => [row.id, row]))
        }
      },
    ),
  )
})

function entriesOf(made: readonly string[]): TranscriptEntry[] {
  const write = new EntryWriter()
  let turn = 0
  let message = { id: 'm0', chars: 0 }
  write.turnId = 't0'
  return made.flatMap((kind): TranscriptEntry[] => {
    if (kind === 'turn') {
      turn += 1
      write.turnId = `t${turn}`
      return [write.user('next')]
    }
    if (kind === 'text') message = { id: `${message.id}x`, chars: 0 }
    if (kind === 'text' || kind === 'more') {
      const entry = write.text('words', { messageId: message.id, offset: message.chars })
      message.chars += 5
      return [entry]
    }
    if (kind === 'user') return [write.user('and', { isSteering: true })]
    if (kind === 'thinking') return [write.text('hm', { kind: 'thinking' })]
    return [kind === 'tool' ? write.tool('t') : kind === 'plan' ? write.plan('p') : write.notice('n')]
  })
}

test('experience 6.5 of 10 000 entries a new one makes one new row', () => {
  const entries = entriesOf(
    Array.from({ length: 10_000 }, (_, index) => (index % 50 === 0 ? 'turn' : index % 3 === 0 ? 'text' : 'tool')),
  )
  const model = createRowModel('me')
  const before = new Set(model.rows({ entries, hasMore: false, turns: NO_TURNS }))
  const last = entries.at(-1) as TranscriptEntry
  const next = { ...new EntryWriter().notice('new'), seq: last.seq + 1, turnId: last.turnId }
  const after = model.rows({ entries: [...entries, next], hasMore: false, turns: NO_TURNS })
  expect(after.filter(row => !before.has(row)).map(({ kind }) => kind)).toEqual(['notice'])
})

test('experience 6.5 a tool is told by kind, title, what it is about, state, time and amount', () => {
  const write = new EntryWriter()
  const tool = write.tool('Run', {
    name: 'execute',
    input: '{"command":"npm test"}',
    output: 'a\nb\n',
    endedAt: NOON + 13_000,
  })
  expect(`${toolTitle(tool)} · ${toolStateWords(tool)}`).toBe('execute: Run: npm test · completed · 0:12 · 2 lines')
  const stored = { artifact: `sha256:${'a'.repeat(64)}`, bytes: 1_300_000, preview: 'head' }
  expect(toolStateWords({ ...tool, status: 'failed', output: stored })).toBe('failed · 0:12 · 1.2 MiB')
  expect(toolTitle(write.tool('src/a.ts', { input: '{"path":"src/a.ts"}' }))).toBe('read: src/a.ts')
  expect(wholeText(rowsOf([{ ...tool, output: stored }])[1] as TranscriptRow)).toContain(
    '1.2 MiB kept as sha256:aaaaaaaaaaaa…',
  )
})

test('experience 6.4 what was asked is told with who answered what', () => {
  const write = new EntryWriter()
  expect(rowText(rowsOf([write.permission('rm -rf build', 'Allow once')])[1] as TranscriptRow)).toBe(
    'Asked: execute: rm -rf build\nanswered by laptop: Allow once',
  )
})

test('Z6 the text of a row holds nothing that a terminal obeys', () => {
  assertProperty(
    fc.property(anyString, bad => {
      const write = new EntryWriter()
      const entries = [
        write.user(bad, {
          content: {
            text: bad,
            displayText: bad,
            quotes: [{ text: bad, label: bad }],
            attachments: [{ kind: 'file', name: bad, mimeType: bad, bytes: 1, ref: { path: '/a' } }],
          },
        }),
        write.text(bad),
        write.text(bad, { kind: 'thinking' }),
        write.tool(bad, { name: bad, input: bad, output: bad }),
        write.permission(bad, bad),
        write.plan(bad, { by: { surface: bad, clientInstanceId: 'x' } }),
        write.notice(bad),
      ]
      for (const row of rowsOf(entries))
        expect(rowText(row) + wholeText(row)).not.toMatch(
          /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/,
        )
    }),
  )
})
