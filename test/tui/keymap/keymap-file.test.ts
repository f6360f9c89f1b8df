import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { followKeymap, type Keymap, readKeymap } from '../../../replica/tui/settings/keymap-file.ts'
import { createKeyTable } from '../../../replica/view/keymap/key-table.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { testTempDir } from '../../support/temp-dir.ts'
import { waitFor } from '../../support/wait-for.ts'

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

test('experience 7.2 a key is given to another action, or to none', () => {
  const { overrides, problems } = readKeymap(
    '// mine\n{ "composer": { "Ctrl-X": "queue.steer", "ctrl+g": null, "ctrl+r": null, }, "list": { "D": "session.archive" } }',
  )
  expect(problems).toEqual([])
  expect(overrides).toEqual({
    composer: { 'ctrl+x': 'queue.steer', 'ctrl+g': null, 'ctrl+r': null },
    list: { D: 'session.archive' },
  })
  const table = createKeyTable(overrides)
  expect(table.actionsFor('composer', 'ctrl+x')).toEqual(['queue.steer'])
  expect(table.actionsFor('composer', 'ctrl+g')).toEqual([])
  expect(table.actionsFor('list', 'D')).toEqual(['session.archive'])
})

const WRONG: readonly (readonly [string, string])[] = [
  [
    '{ "compsoer": { "x": null } }',
    'keymap.jsonc:1:17: there is no place "compsoer" for keys; did you mean "composer"?',
  ],
  ['{ "list": { "cmd+k": null } }', 'keymap.jsonc:1:13: "cmd+k" is no key of a terminal'],
  [
    '{ "list": { "x": "plan.aprove" } }',
    'keymap.jsonc:1:13: there is no action "plan.aprove"; did you mean "plan.approve"?',
  ],
  ['{ "list": { "x": "plan.approve" } }', 'keymap.jsonc:1:13: plan.approve does nothing in list, only in plan'],
  ['{ "list": { "x": 7 } }', 'keymap.jsonc:1:13: list: x needs the name of an action, or null'],
  [
    '{ "composer": { "x": "turn.interrupt" } }',
    'keymap.jsonc:1:17: composer: x is text there; take a key with ctrl or alt',
  ],
  [
    '{ "list":\n { "x": null,\n  "x": "session.new" } }',
    'keymap.jsonc:3:3: list: x stands here twice; the first one counts',
  ],
  [
    '{ "list": { "ctrl+s": null, "Ctrl-S": null } }',
    'keymap.jsonc:1:29: list: ctrl+s stands here twice; the first one counts',
  ],
  [
    '{ "composer": { "ctrl+r": "composer.editor" } }',
    'keymap.jsonc:1:17: composer: ctrl+r is composer.editor now, so composer.search has no key left there',
  ],
  ['{ "composer": "ctrl+s" }', 'keymap.jsonc:1:3: "composer" needs an object of keys'],
  ['[]', 'keymap.jsonc: it must be an object'],
  ['{ "list": { "x" null } }', 'keymap.jsonc:1:17: colon expected'],
]

test.each(WRONG)('experience 7.2 %s is told', (text, problem) => {
  expect(readKeymap(text).problems).toEqual([problem])
})

test('experience 7.2 what is wrong leaves the rest as it is', () => {
  const { overrides, problems } = readKeymap(
    '{ "list": { "x": "nope", "D": "session.archive" }, "composer": { "ctrl+x": 5 } }',
  )
  expect(overrides).toEqual({ list: { D: 'session.archive' } })
  expect(problems).toHaveLength(2)
})

test('experience 7.2 a hostile file is bounded', () => {
  const many = Object.fromEntries(Array.from({ length: LIMITS.keymapBindings + 10 }, (_, i) => [`nope${i}`, null]))
  expect(readKeymap(JSON.stringify({ list: many })).problems).toHaveLength(LIMITS.settingsProblems)
  expect(readKeymap('['.repeat(60_000)).problems).toHaveLength(1)
  expect(readKeymap('{ "__proto__": { "x": null }, "list": { "__proto__": null } }').overrides).toEqual({})
  expect(readKeymap('')).toEqual({ overrides: {}, problems: [] })
})

test('experience 7.2 the file is followed: made, changed, replaced, removed, with its folder', async () => {
  const home = testTempDir('keymap')
  const folder = join(home, 'config', 'headwater')
  const path = join(folder, 'keymap.jsonc')
  const seen: Keymap[] = []
  const watching = followKeymap(path, keymap => void seen.push(keymap))
  closing.push(() => watching.close())
  const last = (what: string, is: (keymap: Keymap) => boolean) => {
    return waitFor(() => seen.length > 0 && is(seen.at(-1) as Keymap), { what })
  }
  const archives = (key: string) => (keymap: Keymap) => keymap.overrides.list?.[key] === 'session.archive'
  await last('the missing file', ({ overrides }) => Object.keys(overrides).length === 0)
  mkdirSync(folder, { recursive: true })
  writeFileSync(path, '{ "list": { "D": "session.archive" } }')
  await last('the new file', archives('D'))
  writeFileSync(path, '{ "list": { "E": "session.archive" } }')
  await last('the changed file', archives('E'))
  writeFileSync(`${path}.new`, '{ "list": { "Q": "session.archive" } }')
  renameSync(`${path}.new`, path)
  await last('the replaced file', archives('Q'))
  rmSync(join(home, 'config'), { recursive: true })
  await last('the removed folder', ({ overrides }) => Object.keys(overrides).length === 0)
  mkdirSync(folder, { recursive: true })
  writeFileSync(path, '{ "list": { "Z": "session.archive" } }')
  await last('the folder that is back', archives('Z'))
  const count = seen.length
  watching.close()
  const witnessed: Keymap[] = []
  const witness = followKeymap(path, keymap => void witnessed.push(keymap))
  closing.push(() => witness.close())
  await waitFor(() => witnessed.length === 1, { what: 'the first look of another one' })
  writeFileSync(path, '{}')
  await waitFor(() => witnessed.length === 2, { what: 'the change, as another one sees it' })
  expect(seen).toHaveLength(count)
})

test('experience 7.2 a file that is too large or no file is told, and changes nothing', async () => {
  const home = testTempDir('keymap')
  const path = join(home, 'keymap.jsonc')
  const seen: Keymap[] = []
  mkdirSync(path)
  const watching = followKeymap(path, keymap => void seen.push(keymap))
  closing.push(() => watching.close())
  await waitFor(() => seen.length > 0, { what: 'a look at the folder' })
  expect(seen[0]?.problems[0]).toMatch(/^keymap\.jsonc: EISDIR/)
  rmSync(path, { recursive: true })
  writeFileSync(path, ' '.repeat(LIMITS.keymapBytes + 1))
  await waitFor(() => seen.at(-1)?.problems[0]?.includes('it is over') === true, { what: 'a look at the large file' })
})
