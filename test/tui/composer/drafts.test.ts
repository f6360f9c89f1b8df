import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { DraftFiles } from '../../../replica/tui/composer/draft-file.ts'
import { DraftStore } from '../../../replica/tui/composer/draft-store.ts'
import { editingOf } from '../../../replica/view/composer/editing-keys.ts'
import { pasted, typed } from '../../../replica/view/composer/editor.ts'
import { expanded } from '../../../replica/view/composer/folded-text.ts'
import { walked } from '../../../replica/view/composer/history.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { testTempDir } from '../../support/temp-dir.ts'
import { OtherTerminal } from '../../support/tui/other-terminal.ts'
import { waitFor } from '../../support/wait-for.ts'

const LONG = Array.from({ length: 50 }, (_, line) => `line ${line}`).join('\n')

function storeIn(folder: string, client: string): DraftStore {
  const store = new DraftStore(new DraftFiles(join(folder, 'drafts'), client))
  onTestFinished(() => store.flush())
  return store
}
const write = (store: DraftStore, text: string): void => store.edit('s', editor => typed(editor, text))
const textOf = (store: DraftStore): string => expanded(store.get('s').editor)
const filesIn = (folder: string): readonly string[] => readdirSync(join(folder, 'drafts')).sort()

test('experience 5.3 a draft is on the disk soon after the last key, for its user only', async () => {
  const folder = testTempDir('draft')
  const store = storeIn(folder, 'a')
  mkdirSync(join(folder, 'drafts'), { mode: 0o755 })
  write(store, 'half a ')
  write(store, 'sentence')
  expect(filesIn(folder)).toEqual([])
  const [name = ''] = await waitFor(() => (filesIn(folder).length === 1 ? filesIn(folder) : null))
  const path = join(folder, 'drafts', name)
  await waitFor(() => readFileSync(path, 'utf8').includes('half a sentence'))
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(statSync(join(folder, 'drafts')).mode & 0o777).toBe(0o700)
  store.edit('s', editor => editingOf('ctrl+u')?.apply(editor) ?? editor)
  await waitFor(() => filesIn(folder).length === 0)
})

test('O2 a draft is there again after the terminal is gone, with what was folded', async () => {
  const folder = testTempDir('draft')
  const before = storeIn(folder, 'a')
  before.edit('s', editor => pasted(typed(editor, 'look: '), LONG))
  await before.flush()
  const dead = filesIn(folder)[0] as string
  const path = join(folder, 'drafts', dead)
  writeFileSync(path, readFileSync(path, 'utf8').replace(`"pid":${process.pid}`, '"pid":999999999'))

  const after = storeIn(folder, 'b')
  await after.open('s')
  const { editor, notice } = after.get('s')
  expect([editor.text, expanded(editor)]).toEqual(['look: \u{100000}', `look: ${LONG}`])
  expect(notice).toMatch(/^your draft as of \d\d:\d\d$/)
  expect(filesIn(folder)).toHaveLength(1)
  expect(filesIn(folder)).not.toContain(dead)
  write(after, ' and tell')
  expect(after.get('s').notice).toBe(null)
})

test('experience 5.3 two terminals on one session leave each other their drafts', async () => {
  const folder = testTempDir('draft')
  const other = new OtherTerminal(folder, 'other')
  await other.does('type', 's', 'from the other')
  await other.does('flush')
  const mine = storeIn(folder, 'mine')
  await mine.open('s')
  expect(textOf(mine)).toBe('')
  expect(mine.get('s').notice).toMatch(/^another terminal has a draft here, as of \d\d:\d\d · \^Y puts a copy in$/)
  write(mine, 'mine: ')
  await mine.flush()
  expect(filesIn(folder)).toHaveLength(2)
  mine.edit('s', editor => editingOf('ctrl+y')?.apply(editor) ?? editor)
  expect(textOf(mine)).toBe('mine: from the other')
  await mine.flush()

  await other.does('type', 's', ' and more')
  await other.does('flush')
  expect(filesIn(folder)).toHaveLength(2)
  await other.kill()
  const third = storeIn(folder, 'third')
  await third.open('s')
  expect(textOf(third)).toBe('from the other and more')
})

test('experience 5.3 a draft that is found does not touch what is written meanwhile', async () => {
  const folder = testTempDir('draft')
  const other = new OtherTerminal(folder, 'other')
  await other.does('type', 's', 'left behind')
  await other.does('flush')
  await other.kill()
  const mine = storeIn(folder, 'mine')
  const opened = mine.open('s')
  write(mine, 'new')
  await opened
  expect(textOf(mine)).toBe('new')
  expect(mine.get('s').notice).toMatch(/\^Y puts it in$/)
  write(mine, 'er')
  expect(mine.get('s').notice).not.toBe(null)
  const later = storeIn(folder, 'later')
  await mine.flush()
  await later.open('s')
  mine.edit('s', editor => editingOf('ctrl+y')?.apply(editor) ?? editor)
  expect(textOf(mine)).toBe('newerleft behind')
})

test('experience 5.3 what is on its way and what was left for the history are kept too', async () => {
  const folder = testTempDir('draft')
  const before = storeIn(folder, 'a')
  write(before, 'sent, perhaps')
  const sending = before.beginSending('s', 'send')
  expect(textOf(before)).toBe('')
  write(before, 'my draft')
  const draft = before.get('s')
  const there = walked(draft.walk, -1, { entries: ['old'], text: draft.editor })
  before.set('s', { ...draft, walk: there!.walk, editor: { ...draft.editor, ...there!.text, cursor: 3 } })
  await before.flush()
  const kept = JSON.parse(readFileSync(join(folder, 'drafts', filesIn(folder)[0] as string), 'utf8'))
  expect([kept.text, kept.aside]).toEqual(['', ['sent, perhaps', 'my draft']])
  before.endSending(sending!, false)
  expect(textOf(before)).toBe('sent, perhaps\n\nold')
})

test('experience 6.1 a text that was not accepted comes back before what was written meanwhile', () => {
  const store = new DraftStore(null)
  write(store, 'first')
  const sending = store.beginSending('s', 'queue')
  write(store, 'second')
  expect(store.get('s').sending.map(({ mode, text }) => [mode, text.text])).toEqual([['queue', 'first']])
  store.endSending(sending!, false)
  store.endSending(sending!, false)
  expect(textOf(store)).toBe('first\n\nsecond')
  const again = store.beginSending('s', 'send')
  store.endSending(again!, true)
  expect([textOf(store), store.get('s').sending]).toEqual(['', []])
  for (let i = 0; i < LIMITS.composerSending; i++) {
    write(store, `${i}`)
    expect(store.beginSending('s', 'send')).not.toBe(null)
  }
  write(store, 'one too many')
  expect(store.beginSending('s', 'send')).toBe(null)
  expect(textOf(store)).toBe('one too many')
})

test('experience 6.1 the draft of a session that is made goes with it, what is on its way too', async () => {
  const folder = testTempDir('draft')
  const store = storeIn(folder, 'a')
  write(store, 'first message')
  const sending = store.beginSending('s', 'send')
  write(store, 'second')
  await store.flush()
  store.rename('s', 'made')
  expect([textOf(store), expanded(store.get('made').editor)]).toEqual(['', 'second'])
  store.endSending(sending!, false)
  expect([textOf(store), expanded(store.get('made').editor)]).toEqual(['', 'first message\n\nsecond'])
  await store.flush()
  expect(filesIn(folder)).toHaveLength(1)
})

test('experience 5.3 what cannot be read is no draft', async () => {
  const folder = testTempDir('draft')
  const before = storeIn(folder, 'a')
  write(before, 'text')
  await before.flush()
  const path = join(folder, 'drafts', filesIn(folder)[0] as string)
  const whole = readFileSync(path, 'utf8').replace(`"pid":${process.pid}`, '"pid":999999999')
  const torn = [
    whole.slice(0, whole.length / 2),
    '',
    '[]',
    whole.replace('"v":1', '"v":2'),
    whole.replace('"s"', '"t"'),
  ]
  for (const text of torn) {
    writeFileSync(path, text)
    const store = storeIn(folder, 'b')
    await store.open('s')
    expect(store.get('s').editor.text).toBe('')
  }
  const foreign = whole.replace('"text":"text"', JSON.stringify('text\u{100005}').replace(/^/, '"text":'))
  writeFileSync(path, foreign)
  const store = storeIn(folder, 'b')
  await store.open('s')
  expect(textOf(store)).toBe('text\u{100005}')
})

test('experience 5.3 a draft that cannot be saved is told once, and is still there', async () => {
  const folder = testTempDir('draft')
  writeFileSync(join(folder, 'drafts'), 'a file where the folder belongs')
  const told: string[] = []
  const store = new DraftStore(new DraftFiles(join(folder, 'drafts'), 'a'), message => told.push(message))
  write(store, 'one')
  await store.flush()
  write(store, 'two')
  await store.flush()
  expect(told).toEqual([expect.stringMatching(/^The draft cannot be saved: E(EXIST|NOTDIR)$/)])
  expect(textOf(store)).toBe('onetwo')
})

test('experience 5.3 drafts on the disk are bounded: the oldest goes, never one of this terminal', async () => {
  const folder = testTempDir('draft')
  const drafts = join(folder, 'drafts')
  mkdirSync(drafts)
  chmodSync(drafts, 0o700)
  const nameOf = (i: number): string => `${String(i).padStart(32, '0')}.${'f'.repeat(16)}.json`
  for (let i = 0; i < LIMITS.draftFiles; i++) {
    writeFileSync(join(drafts, nameOf(i)), '{}')
    utimesSync(join(drafts, nameOf(i)), 1_000 + i, 1_000 + i)
  }
  const early = storeIn(folder, 'a')
  early.edit('early', editor => typed(editor, 'the oldest of all'))
  await early.flush()
  const [own = ''] = filesIn(folder).filter(name => !name.includes('f'.repeat(16)))
  utimesSync(join(drafts, own), 500, 500)
  const leftOver = join(drafts, `${nameOf(1)}.abc.tmp`)
  writeFileSync(leftOver, '{')
  utimesSync(leftOver, 1_000, 1_000)
  const store = storeIn(folder, 'a')
  write(store, 'text')
  await store.flush()
  const files = filesIn(folder)
  expect(files).toContain(own)
  expect(files.filter(name => name !== own)).toHaveLength(LIMITS.draftFiles)
  expect(files).not.toContain(nameOf(0))
  expect(files).toContain(nameOf(1))
  expect(files.filter(name => name.endsWith('.tmp'))).toEqual([])
})

test('experience 5.3 of many sessions the drafts stay, in memory or on the disk', async () => {
  const folder = testTempDir('draft')
  const store = storeIn(folder, 'a')
  for (let i = 0; i < LIMITS.draftsOpen + 10; i++) {
    store.edit(`s${i}`, editor => typed(editor, `text ${i}`))
    await store.flush()
  }
  await store.open('s0')
  expect(expanded(store.get('s0').editor)).toBe('text 0')
})
