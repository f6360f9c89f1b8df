import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { FoldLevel } from '../../../replica/tui/transcript/rows/layout.ts'
import { viewLines } from '../../../replica/tui/transcript/view-lines.ts'
import { indexOf, keyOf } from '../../../replica/tui/transcript/window/row-source.ts'
import { findNext, lineWith } from '../../../replica/tui/transcript/window/search.ts'
import {
  FOLLOWING,
  markedIndex,
  moveMark,
  newRows,
  scrollBy,
  scrollPage,
  settled,
  showRow,
  slicesOf,
  targetIndex,
  topOf,
  toTop,
  type WindowState,
} from '../../../replica/tui/transcript/window/window.ts'
import type { TranscriptRow } from '../../../replica/view/transcript/row.ts'
import type { TranscriptEntry } from '../../../schema/entities/transcript.ts'
import { assertProperty } from '../../support/property.ts'
import { EntryWriter } from '../../support/tui/entries.ts'
import { RowScreen } from '../../support/tui/row-ground.ts'
import { textOf } from '../../support/tui/text-of.ts'

/** Notices of one line each, `n1` to `nN`, an empty line between them. */
function notices(count: number, write = new EntryWriter()): TranscriptEntry[] {
  return Array.from({ length: count }, (_, index) => write.notice(`n${index + 1}`))
}

function noticeScreen(count: number, height: number): RowScreen {
  const screen = new RowScreen(notices(count), { columns: 40, height })
  screen.hasMore = true
  return screen
}

const linesOf = (state: WindowState, screen: RowScreen) =>
  viewLines(state, screen.ground, { barAt: markedIndex(state, screen.ground), query: '' })
const shown = (state: WindowState, screen: RowScreen): string[] =>
  textOf(linesOf(state, screen)).map(line => line.trim())
const texts = (state: WindowState, screen: RowScreen): string =>
  shown(state, screen)
    .map(line => line.replace(/^▌?! /, ''))
    .filter(Boolean)
    .join(' ')

test('experience 6.5 the newest lines are on the screen while nobody scrolls; few lines begin at the top', () => {
  const screen = noticeScreen(5, 5)
  expect(texts(FOLLOWING, screen)).toBe('n3 n4 n5')
  screen.entries = [...screen.entries, { ...notices(1)[0], seq: 6, text: 'n6' } as TranscriptEntry]
  expect(texts(FOLLOWING, screen)).toBe('n4 n5 n6')
  expect(shown(FOLLOWING, noticeScreen(2, 9))).toEqual(['! n1', '', '! n2'])
  expect(shown(FOLLOWING, noticeScreen(0, 9))).toEqual([])
})

test('experience 6.5 who has scrolled up stays where they are, is told how much is new, and follows again at the end', () => {
  const screen = noticeScreen(20, 5)
  const up = scrollBy(FOLLOWING, screen.ground, -4)
  expect(texts(up, screen)).toBe('n16 n17 n18')
  screen.entries = notices(23)
  expect(texts(up, screen)).toBe('n16 n17 n18')
  expect(newRows(up, screen.ground)).toBe(3)
  expect(scrollBy(up, screen.ground, 100).anchor).toBe(null)
  expect(texts(scrollBy(up, screen.ground, 2), screen)).toBe('n17 n18 n19')
})

test('experience 6.5 pages keep two lines, the top is the top, and the mark comes along', () => {
  const screen = noticeScreen(20, 6)
  const marked = moveMark(FOLLOWING, screen.ground, -1)
  expect(texts(marked, screen)).toBe('n18 n19 n20')
  const up = scrollPage(marked, screen.ground, -1)
  expect(texts(up, screen)).toBe('n16 n17 n18')
  expect(markedIndex(up, screen.ground)).toBe(15)
  const top = toTop(up, screen.ground)
  expect(texts(top, screen)).toBe('n1 n2 n3')
  expect(markedIndex(top, screen.ground)).toBe(0)
  expect(texts(scrollPage(top, screen.ground, 1), screen)).toBe('n3 n4 n5')
})

test('experience 7.2 the mark goes from row to row and brings them onto the screen; past the newest it follows', () => {
  const screen = noticeScreen(6, 5)
  let state: WindowState = FOLLOWING
  const seen: string[] = []
  for (const direction of [-1, -1, -1, -1, 1, 1, 1, 1, 1] as const) {
    state = moveMark(state, screen.ground, direction)
    seen.push(shown(state, screen).find(line => line.startsWith('▌')) ?? '–')
  }
  expect(seen).toEqual(['▌! n5', '▌! n4', '▌! n3', '▌! n2', '▌! n3', '▌! n4', '▌! n5', '▌! n6', '–'])
  expect(state).toEqual(FOLLOWING)
})

test('experience 6.5 a row that is higher than the screen is shown to its end before the mark goes on', () => {
  const write = new EntryWriter()
  const long = Array.from({ length: 8 }, (_, index) => `line ${index + 1}`).join('\n')
  const entries = [write.notice('before'), write.text(long), write.notice('after')]
  const screen = new RowScreen(entries, { columns: 40, height: 5 })
  screen.hasMore = true
  let state = showRow(toTop(FOLLOWING, screen.ground), screen.ground, 1)
  const seen: (string | undefined)[] = []
  for (let step = 0; step < 6; step++) {
    state = moveMark(state, screen.ground, 1)
    seen.push(shown(state, screen).at(-1))
  }
  expect(seen).toEqual(['▌  line 4', '▌  line 5', '▌  line 6', '▌  line 7', '▌  line 8', '▌! after'])
})

test('experience 6.5 what open and copy are about: the marked row, else the newest one on the screen', () => {
  const screen = noticeScreen(9, 5)
  expect(targetIndex(FOLLOWING, screen.ground)).toBe(8)
  expect(targetIndex(showRow(FOLLOWING, screen.ground, 3), screen.ground)).toBe(3)
  expect(targetIndex(FOLLOWING, noticeScreen(0, 5).ground)).toBe(-1)
})

test('experience 6.5 a message that grew at its beginning, or streams on, stays at the same text', () => {
  const write = new EntryWriter()
  const paragraph = (from: number) =>
    Array.from({ length: 20 }, (_, index) => `paragraph ${from + index} of it`).join('\n\n')
  const [first, second] = [`${paragraph(100)}\n\n`, paragraph(120)]
  const older = write.text(first, { messageId: 'm' })
  const newer = write.text(second, { messageId: 'm', offset: first.length })
  const screen = new RowScreen([newer], { columns: 40, height: 6 })
  screen.hasMore = true
  const state = scrollBy(FOLLOWING, screen.ground, -10)
  const before = shown(state, screen)
  screen.entries = [older, newer]
  expect(screen.rows.length).toBe(1)
  expect(shown(state, screen)).toEqual(before)
  screen.entries = [older, { ...newer, text: `${second}\n\nand more\n\nand more` }]
  expect(shown(state, screen)).toEqual(before)
})

test('experience 6.5 another width keeps the first word on the screen', () => {
  const write = new EntryWriter()
  const words = Array.from({ length: 2_000 }, (_, index) => `w${index}`).join(' ')
  const screen = new RowScreen([write.text(words)], { columns: 60, height: 10 })
  screen.hasMore = true
  const state = scrollBy(FOLLOWING, screen.ground, -40)
  const [first = ''] = (shown(state, screen)[0] ?? '').split(' ')
  for (const columns of [30, 100, 41, 60]) {
    screen.columns = columns
    expect(shown(state, screen)[0]?.split(' ')).toContain(first)
  }
})

test('experience 6.5 search goes from find to find, line by line, and into what is folded', () => {
  const write = new EntryWriter()
  const entries = [
    write.notice('alpha'),
    write.text('one alpha\n\ntwo\n\nthree Alpha'),
    write.tool('t', { output: 'in alpha out' }),
    write.notice('last'),
  ]
  const screen = new RowScreen(entries, { columns: 40, height: 5 })
  screen.hasMore = true
  const { source } = screen.ground
  const up = { query: 'alpha', direction: -1 } as const
  const found = [findNext(source, { ...up, index: 3, line: null })]
  found.push(findNext(source, { ...up, index: 2, line: 0 }))
  found.push(findNext(source, { ...up, index: 1, line: 4 }))
  found.push(findNext(source, { ...up, index: 1, line: 0 }))
  found.push(findNext(source, { ...up, index: 0, line: 0 }))
  expect(found.map(find => (find === null ? null : [find.key.seq, find.line, find.isFolded]))).toEqual([
    [3, 0, true],
    [2, 4, false],
    [2, 0, false],
    [1, 0, false],
    null,
  ])
  expect(findNext(source, { query: 'alpha', direction: 1, index: 1, line: 0 })).toEqual({
    key: { seq: 2, place: 1 },
    line: 4,
    isFolded: false,
  })
  screen.folds.set('3.1', 2)
  expect(lineWith(screen.ground.source, { seq: 3, place: 1 }, up)).toBe(2)
})

test('experience 16 a frame of 10 000 entries lays out the rows on the screen and no others', () => {
  const write = new EntryWriter()
  const entries = Array.from({ length: 10_000 }, (_, index) =>
    index % 7 === 0 ? write.text(`text ${index}`) : write.tool(`tool ${index}`),
  )
  const screen = new RowScreen(entries, { columns: 80, height: 24 })
  linesOf(FOLLOWING, screen)
  expect(screen.layouts.count).toBeLessThanOrEqual(26)
  const top = toTop(FOLLOWING, screen.ground)
  linesOf(top, screen)
  expect(screen.layouts.count).toBeLessThanOrEqual(52)
  const page = scrollPage(top, screen.ground, 1)
  linesOf(page, screen)
  expect(screen.layouts.count).toBeLessThanOrEqual(78)
  screen.entries = [...entries, write.notice('new')]
  linesOf(page, screen)
  expect(newRows(page, screen.ground)).toBe(1)
  expect(screen.layouts.count).toBeLessThanOrEqual(79)
})

type Step =
  | { readonly kind: 'scroll' | 'append' | 'prepend'; readonly by: number }
  | { readonly kind: 'page' | 'mark'; readonly direction: -1 | 1 }
  | { readonly kind: 'width'; readonly columns: number }
  | { readonly kind: 'height'; readonly height: number }
  | { readonly kind: 'fold'; readonly level: FoldLevel }
  | { readonly kind: 'top' | 'end' | 'grow' }

const anyDirection = fc.constantFrom<-1 | 1>(-1, 1)
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('scroll' as const), by: fc.integer({ min: -9, max: 9 }) }),
  fc.record({ kind: fc.constantFrom('append' as const, 'prepend' as const), by: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ kind: fc.constantFrom('page' as const, 'mark' as const), direction: anyDirection }),
  fc.record({ kind: fc.constant('width' as const), columns: fc.integer({ min: 20, max: 70 }) }),
  fc.record({ kind: fc.constant('height' as const), height: fc.integer({ min: 1, max: 15 }) }),
  fc.record({ kind: fc.constant('fold' as const), level: fc.constantFrom<FoldLevel>(0, 1, 2) }),
  fc.record({ kind: fc.constantFrom('top' as const, 'end' as const, 'grow' as const) }),
)

test('experience 6.5 whatever happens the screen is filled, in order, and never jumps by itself', () => {
  assertProperty(
    fc.property(fc.array(anyStep, { maxLength: 40 }), steps => {
      const all = mixedEntries(60)
      let from = 25
      let to = 35
      let grown = 0
      const screen = new RowScreen(all.slice(from, to), { columns: 40, height: 8 })
      screen.hasMore = true
      let state: WindowState = FOLLOWING
      for (const step of steps) {
        const before = firstText(state, screen)
        if (step.kind === 'append') to = Math.min(all.length, to + step.by)
        else if (step.kind === 'prepend') from = Math.max(0, from - step.by)
        else if (step.kind === 'grow') grown += 1
        else if (step.kind === 'width') screen.columns = step.columns
        else if (step.kind === 'height') screen.height = step.height
        else state = moved(state, screen, step)
        screen.entries = withGrown(all.slice(from, to), grown)
        const isSteady = step.kind === 'append' || step.kind === 'prepend' || step.kind === 'grow'
        if (isSteady && state.anchor !== null) expect(firstText(state, screen)).toBe(before)
        const shownBefore = shown(state, screen)
        state = settled(state, screen.ground)
        expect(shown(state, screen)).toEqual(shownBefore)
        expectWhole(state, screen)
      }
    }),
  )
})

function moved(state: WindowState, screen: RowScreen, step: Step): WindowState {
  const { ground } = screen
  switch (step.kind) {
    case 'scroll':
      return scrollBy(state, ground, step.by)
    case 'page':
      return scrollPage(state, ground, step.direction)
    case 'mark':
      return moveMark(state, ground, step.direction)
    case 'fold': {
      const target = targetIndex(state, ground)
      if (target !== -1) screen.folds.set((ground.source.rows[target] as TranscriptRow).id, step.level)
      return state
    }
    case 'top':
      return toTop(state, ground)
    default:
      return FOLLOWING
  }
}

/** The lines on the screen are the rows' own, one after the other; the screen is full if there is enough; the mark is on it or nowhere. */
function expectWhole(state: WindowState, screen: RowScreen): void {
  const { ground } = screen
  const slices = slicesOf(state, ground)
  const lines = linesOf(state, screen)
  const top = topOf(state, ground)
  expect(lines.length).toBe(slices.reduce((sum, { from, to }) => sum + to - from, 0))
  expect(slices.map(({ index }) => index)).toEqual(slices.map((_, at) => top.index + at))
  for (const slice of slices.slice(1)) expect(slice.from).toBe(0)
  if (lines.length < screen.height) {
    expect(top).toEqual({ index: 0, offset: 0 })
    expect((slices.at(-1)?.index ?? -1) + 1).toBe(ground.source.rows.length)
  }
  if (state.marked !== null && markedIndex(state, ground) !== -1) {
    expect(slices.map(({ index }) => index)).toContain(indexOf(ground.source.rows, state.marked))
  }
  for (const [index, row] of ground.source.rows.entries()) expect(indexOf(ground.source.rows, keyOf(row))).toBe(index)
}

/** The first line with text that is on the screen, without its bar, and of a head who began it alone. */
function firstText(state: WindowState, screen: RowScreen): string | undefined {
  return shown(state, screen)
    .map(line =>
      line
        .replace(/^▌/, '')
        .replace(/ ─+.*$/, '')
        .trim(),
    )
    .find(Boolean)
}

function mixedEntries(count: number): TranscriptEntry[] {
  const write = new EntryWriter()
  return Array.from({ length: count }, (_, index): TranscriptEntry => {
    if (index % 9 === 0) write.turnId = `t${index}`
    if (index % 9 === 0) return write.user(`question ${index}`)
    if (index % 4 === 0)
      return write.text(
        `answer ${index} begins here\n\n- with item ${index}a of a list that is long enough to wrap\n- and ${index}b`,
      )
    if (index % 5 === 0) return write.text(`thought ${index}\nand more of ${index}`, { kind: 'thinking' })
    if (index % 7 === 0) return write.notice(`notice ${index}`)
    return write.tool(`file-${index}.ts`, {
      output: Array.from({ length: index }, (_, line) => `out ${index}.${line}`).join('\n'),
    })
  })
}

/** The entries with more text in the last message among them. */
function withGrown(entries: TranscriptEntry[], grown: number): TranscriptEntry[] {
  const last = entries.findLastIndex(({ kind }) => kind === 'assistant')
  return entries.map((entry, index) =>
    index === last && 'messageId' in entry ? { ...entry, text: `${entry.text}${'\n\nand on'.repeat(grown)}` } : entry,
  )
}
