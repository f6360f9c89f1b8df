import { afterEach, expect, test } from 'vitest'
import { Help } from '../../../replica/tui/overlays/help.tsx'
import { Palette } from '../../../replica/tui/overlays/palette.tsx'
import { Switcher } from '../../../replica/tui/overlays/switcher.tsx'
import { widthOf } from '../../../replica/tui/text/measure.ts'
import type { OfferedAction } from '../../../replica/view/keymap/help.ts'
import { createKeyTable } from '../../../replica/view/keymap/key-table.ts'
import { type PaletteChoice, paletteEntries } from '../../../replica/view/palette.ts'
import type { CatalogRow } from '../../../schema/entities/projection.ts'
import { RenderedPart } from '../../support/tui/render-part.tsx'

const NOW = 100_000_000
const table = createKeyTable()
const parts: RenderedPart[] = []
afterEach(() => {
  for (const part of parts.splice(0)) part.close()
})

function session(sessionId: string, minutesAgo: number, over: Partial<CatalogRow> = {}): CatalogRow {
  return {
    sessionId,
    title: `Title of ${sessionId}`,
    status: 'idle',
    isArchived: false,
    lastActivityAt: NOW - minutesAgo * 60_000,
    queueCount: 0,
    pendingCount: 0,
    revision: 1,
    ...over,
  }
}

const OFFERED: readonly OfferedAction[] = [
  { context: 'transcript', action: 'plan.open' },
  { context: 'transcript', action: 'move.up' },
  { context: 'transcript', action: 'session.fork' },
  { context: 'transcript', action: 'help.open' },
  { context: 'global', action: 'help.open' },
  { context: 'global', action: 'session.switch' },
  { context: 'global', action: 'app.leave' },
]
const SESSIONS = [
  session('first', 5),
  session('second', 1, { pendingCount: 1 }),
  session('gone', 0, { isArchived: true }),
]

function palette({ columns = 60, rows = 10, filter = '', sessions = SESSIONS } = {}) {
  const chosen: (PaletteChoice | 'closed')[] = []
  const draw = (rowsNow: readonly CatalogRow[]) => (
    <Palette
      entries={paletteEntries({ offered: OFFERED, table, sessions: rowsNow, themes: ['night'], now: NOW })}
      filter={filter}
      columns={columns}
      rows={rows}
      onRun={choice => void chosen.push(choice)}
      onClose={() => void chosen.push('closed')}
    />
  )
  const part = new RenderedPart(draw(sessions), { columns })
  parts.push(part)
  return { part, chosen, redraw: (rowsNow: readonly CatalogRow[]) => part.draw(draw(rowsNow)) }
}

test('experience 7.2 the palette has what does something now, each with its key, then the sessions', async () => {
  const { part } = palette()
  await part.seen('Leave')
  expect(part.rows.map(row => row.trimEnd().replace(/ {2,}/g, '  '))).toEqual([
    ' command ›',
    ' › Show the keys that work here  ?',
    '  Go to another session  ctrl+o',
    '  Go on from here in a new session  F',
    '  The plan  p',
    '  Leave; the turn keeps running',
    '  Title of second  ! waits for you · 1m',
    '  Title of first  idle · 5m',
    '  Theme: night',
    ' enter choose · esc back',
  ])
})

test('experience 7.2 what is typed in one go with Enter is found and done', () => {
  const { part, chosen } = palette()
  part.press('p', 'l', 'a', 'n', 'enter')
  part.press('ctrl+u', 't', 'i', 't', 'l', 'e', 'f', 'i', 'r', 'enter')
  part.press('ctrl+u', 'n', 'i', 'g', 'h', 't', 'enter', 'esc')
  expect(chosen).toEqual([
    { kind: 'action', action: 'plan.open' },
    { kind: 'session', sessionId: 'first' },
    { kind: 'theme', theme: 'night' },
    'closed',
  ])
})

test('experience 7.2 the mark stays on its entry while the list changes, and within it', async () => {
  const { part, chosen, redraw } = palette({ filter: 'title' })
  await part.seen('› Title of first')
  redraw([session('a', 0), ...SESSIONS])
  await part.seen('Title of a')
  part.press('enter', 'down', 'down', 'pgdn', 'up', 'enter', 'pgup', 'enter')
  expect(chosen).toEqual(['first', 'first', 'a'].map(sessionId => ({ kind: 'session', sessionId })))
})

test('experience 7.2 nothing is found: Enter does nothing, and keys do not get through', async () => {
  const { part, chosen } = palette()
  part.press('x', 'q', 'z', 'x', 'enter')
  await part.seen('nothing like that')
  part.router.paste(' pasted\nlines')
  await part.seen('xqzx pasted lines')
  part.press('backspace', 'ctrl+w', 'ctrl+w')
  await part.seen(/› xqzx *\n/)
  expect(chosen).toEqual([])
  expect(part.press('f5', 'ctrl+c')).toEqual([false, false])
})

const EVIL = 'e\u001b]0;x\u0007vi\u202el 日本語のとても長い題名です 👩‍👩‍👧 café\nnew line'

test.each([
  [40, 10],
  [20, 4],
  [8, 3],
  [120, 40],
])('experience 7.3 %i×%i is filled and never left, whatever the titles are', async (columns, rows) => {
  const sessions = Array.from({ length: 60 }, (_, i) =>
    session(`s${i}`, i, { title: `${EVIL} ${i}`, pendingCount: i % 3 }),
  )
  const { part } = palette({ columns, rows, filter: 'l', sessions })
  await part.seen('›')
  const switcher = new RenderedPart(
    <Switcher sessions={sessions} now={NOW} columns={columns} rows={rows} onSwitch={() => {}} onClose={() => {}} />,
    { columns },
  )
  const help = new RenderedPart(
    <Help offered={OFFERED} table={table} columns={columns} rows={rows} onClose={() => {}} />,
    {
      columns,
    },
  )
  parts.push(switcher, help)
  await switcher.seen('›')
  await help.seen('Keys')
  switcher.press(...Array.from({ length: 30 }, () => 'down'))
  await switcher.seen(/› /)
  for (const { rows: drawn } of [part, switcher, help]) {
    expect(drawn).toHaveLength(rows)
    expect(drawn.filter(row => widthOf(row) > columns)).toEqual([])
    expect(drawn.join('')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)
  }
})

test('experience 7.2 switching: the most recent first, who waits is marked, the rest is found by typing', async () => {
  const switched: string[] = []
  const sessions = [
    session('old', 500, { status: 'running' }),
    session('new', 2, { pendingCount: 2 }),
    session('away', 1, { isArchived: true }),
    session('middle', 60),
  ]
  const part = new RenderedPart(
    <Switcher
      sessions={sessions}
      now={NOW}
      columns={60}
      rows={8}
      onSwitch={sessionId => void switched.push(sessionId)}
      onClose={() => {}}
    />,
    { columns: 60 },
  )
  parts.push(part)
  await part.seen('Title of old')
  expect(part.rows.slice(1, 5).map(row => row.trim().replace(/ {2,}/g, '  '))).toEqual([
    '› Title of new  ! waits for you (2) · 2m',
    'Title of middle  idle · 1h',
    'Title of old  running · 8h',
    '',
  ])
  part.press('down', 'enter', 'o', 'l', 'd', 'enter')
  expect(switched).toEqual(['middle', 'old'])
})

test('experience 7.2 help lists what works now, scrolls, and closes by the key that opened it', async () => {
  let closed = 0
  const part = new RenderedPart(
    <Help offered={OFFERED} table={table} columns={50} rows={8} onClose={() => void closed++} />,
    { columns: 50 },
  )
  parts.push(part)
  await part.seen('Conversation')
  expect(part.rows.map(row => row.trimEnd())).toEqual([
    ' Keys that work now',
    ' Conversation',
    '  p       The plan',
    '  k, up   Up',
    '  F       Go on from here in a new session',
    '  ?, f1   Show the keys that work here',
    '',
    ' 1-6 of 8 · ↑↓ scroll · esc back',
  ])
  part.press('G')
  await part.seen('3-8 of 8')
  await part.seen('ctrl+o  Go to another session')
  part.press('pgup')
  await part.seen('1-6 of 8')
  part.press('?', 'esc')
  expect(closed).toBe(2)
})
