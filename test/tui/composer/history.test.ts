import { appendFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { HistoryFile } from '../../../replica/tui/composer/history-file.ts'
import { expanded, foldedText } from '../../../replica/view/composer/folded-text.ts'
import {
  type HistoryWalk,
  isWalking,
  keptTexts,
  NO_WALK,
  searched,
  searchedOlder,
  searchIn,
  walked,
} from '../../../replica/view/composer/history.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { assertProperty } from '../../support/property.ts'
import { testTempDir } from '../../support/temp-dir.ts'
import { OtherTerminal } from '../../support/tui/other-terminal.ts'

const ENTRIES = ['make a plan', 'run the Tests', 'fix the test', 'thanks']

function folderFiles(folder: string): readonly string[] {
  return readdirSync(join(folder, 'history'))
}

test('experience 6.1 up and down through what was sent lose neither the draft nor a change on the way', () => {
  let walk: HistoryWalk = NO_WALK
  let text = foldedText('draft', 'large')
  const go = (step: -1 | 1): string | null => {
    const there = walked(walk, step, { entries: ENTRIES, text })
    if (there === null) return null
    walk = there.walk
    text = there.text
    return expanded(text)
  }
  expect(go(1)).toBe(null)
  expect([go(-1), go(-1)]).toEqual(['thanks', 'fix the test'])
  text = foldedText('fix the test now', 'large')
  expect([go(-1), go(-1), go(-1)]).toEqual(['run the Tests', 'make a plan', null])
  expect(keptTexts(walk).map(expanded)).toEqual(['fix the test now', 'draft'])
  expect([go(1), go(1), go(1), go(1), go(1)]).toEqual(['run the Tests', 'fix the test now', 'thanks', 'draft', null])
  expect(isWalking(walk)).toBe(false)
})

test('experience 6.1 every way through the history ends at the texts that were left there', () => {
  assertProperty(
    fc.property(
      fc.array(fc.string(), { maxLength: 6 }),
      fc.array(fc.tuple(fc.constantFrom<-1 | 1>(-1, 1), fc.option(fc.string(), { nil: undefined })), { maxLength: 30 }),
      (entries, steps) => {
        const model = [...entries, 'draft']
        let at = entries.length
        let walk: HistoryWalk = NO_WALK
        let text = foldedText('draft', 'large')
        for (const [step, change] of steps) {
          const there = walked(walk, step, { entries, text })
          const isInside = at + step >= 0 && at + step < model.length
          expect(there !== null).toBe(isInside)
          if (there === null) continue
          ;({ walk, text } = there)
          at += step
          expect(expanded(text)).toBe(model[at])
          if (change === undefined) continue
          text = foldedText(change, 'large')
          model[at] = expanded(text)
        }
      },
    ),
    300,
  )
})

test('experience 6.1 a search finds the newest that has the words, then older ones, whatever their case', () => {
  const found = (search: ReturnType<typeof searchIn>): string | undefined =>
    search.found === null ? undefined : ENTRIES[search.found]
  const start = searchIn(ENTRIES)
  expect(found(start)).toBe(undefined)
  const typed = searched(searched(start, 't'), 'test')
  expect(found(typed)).toBe('fix the test')
  expect(found(searchedOlder(typed))).toBe('run the Tests')
  expect(searchedOlder(searchedOlder(typed))).toEqual(searchedOlder(typed))
  expect(found(searched(searchedOlder(typed), 'tests'))).toBe('run the Tests')
  expect(found(searched(typed, 'testx'))).toBe(undefined)
  expect(found(searched(searched(typed, 'testx'), 'test'))).toBe('fix the test')
  expect(searched(start, 'x'.repeat(1_000)).query).toHaveLength(LIMITS.composerQueryChars)
})

test('experience 6.1 what was sent is there again, by session and for the root, for its user only', async () => {
  const folder = testTempDir('history')
  const history = new HistoryFile(join(folder, 'history'), 'root')
  await history.add('a', 'one\nwith a second line')
  await history.add('b', 'two')
  await history.add('a', 'three')
  await history.add('a', 'one\nwith a second line')
  const again = new HistoryFile(join(folder, 'history'), 'root')
  expect(again.texts('a')).toEqual([])
  await again.load()
  for (const known of [history, again]) {
    expect(known.texts('a')).toEqual(['three', 'one\nwith a second line'])
    expect(known.texts()).toEqual(['two', 'three', 'one\nwith a second line'])
  }
  const other = new HistoryFile(join(folder, 'history'), 'another root')
  await other.load()
  expect(other.texts()).toEqual([])
  const [name = ''] = folderFiles(folder)
  expect(statSync(join(folder, 'history', name)).mode & 0o777).toBe(0o600)
  expect(statSync(join(folder, 'history')).mode & 0o777).toBe(0o700)
})

test('experience 6.1 what is sent while the history is read is in it', async () => {
  const history = new HistoryFile(join(testTempDir('history'), 'history'), 'root')
  await history.add('a', 'one')
  const loaded = history.load()
  const added = history.add('a', 'two')
  await loaded
  expect(history.texts('a')).toEqual(['one', 'two'])
  await added
})

test('experience 6.1 a line that a writer was killed in costs nothing but itself', async () => {
  const folder = testTempDir('history')
  const history = new HistoryFile(join(folder, 'history'), 'root')
  await history.add('a', 'one')
  const path = join(folder, 'history', folderFiles(folder)[0] as string)
  appendFileSync(path, '\n{"v":1,"at":5,"session":"a","te')
  await history.add('a', 'two')
  appendFileSync(path, '\n{"v":2}\nnull\n')
  await history.load()
  expect(history.texts('a')).toEqual(['one', 'two'])
})

test('experience 6.1 several terminals write the history at once, past its bound, and no new line is lost', async () => {
  const folder = testTempDir('history')
  const names = ['x', 'y', 'z']
  const terminals = names.map(name => new OtherTerminal(folder, name))
  // Together more than a part of the bound: the file is set aside while others write.
  const count = Math.ceil(LIMITS.historyBytes / 4 / 600 / 2)
  await Promise.all(terminals.map(terminal => terminal.does('many', 's', String(count))))
  const history = new HistoryFile(join(folder, 'history'), 'root')
  await history.load()
  expect(folderFiles(folder).length).toBeGreaterThan(1)
  expect(history.texts()).toHaveLength(LIMITS.historyEntries)
  for (const name of names) {
    const own = history.texts().filter(text => text.startsWith(`${name} `))
    const numbers = own.map(text => Number(text.split(' ')[1]))
    const last = numbers.at(-1) ?? count - 1
    expect(numbers).toEqual(numbers.map((_, i) => last - numbers.length + 1 + i))
  }
}, 20_000)

test('experience 6.1 the history is bounded on the disk and here; what is too long for it is known only here', async () => {
  const folder = testTempDir('history')
  const history = new HistoryFile(join(folder, 'history'), 'root')
  const long = 'x'.repeat(LIMITS.historyEntryBytes - 100)
  const count = Math.ceil((LIMITS.historyBytes * 1.5) / long.length)
  for (let i = 0; i < count; i++) await history.add('a', `${i} ${long}`)
  const bytes = folderFiles(folder).reduce((sum, name) => sum + statSync(join(folder, 'history', name)).size, 0)
  expect(bytes).toBeLessThanOrEqual(LIMITS.historyBytes + LIMITS.historyBytes / 4 + LIMITS.historyEntryBytes)
  await history.add('a', 'y'.repeat(LIMITS.historyEntryBytes))
  expect(history.texts('a').at(-1)).toMatch(/^y+$/)
  await history.load()
  expect(history.texts('a').at(-1)).toMatch(/^y+$/)
  const again = new HistoryFile(join(folder, 'history'), 'root')
  await again.load()
  expect(again.texts('a').at(-1)).toMatch(new RegExp(`^${count - 1} x+$`))
  for (let i = 0; i < LIMITS.historyEntries + 5; i++) void history.add('b', `${i}`)
  expect(history.texts()).toHaveLength(LIMITS.historyEntries)
  expect(history.texts()[0]).toBe('5')
  await history.add('b', 'end')
})
