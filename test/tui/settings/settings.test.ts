import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readJsonc } from '../../../replica/settings/jsonc.ts'
import { readSettings } from '../../../replica/settings/read-settings.ts'
import { misfit, SETTING_NAMES, settingOf } from '../../../replica/settings/setting-table.ts'
import { readTuiSettings } from '../../../replica/tui/settings/tui-settings.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { testTempDir } from '../../support/temp-dir.ts'

const DEFAULTS = {
  enterWhileRunning: 'follow_up',
  confirmInterrupt: false,
  notifications: 'unfocused',
  hasMouse: false,
  setsTitle: true,
  theme: 'terminal',
}

function configFile(text: string): string {
  const path = join(testTempDir('settings'), 'config.jsonc')
  writeFileSync(path, text)
  return path
}

test('experience 4.5 a file that is not there gives the defaults', async () => {
  expect(await readTuiSettings(join(testTempDir('settings'), 'none.jsonc'))).toEqual({
    settings: DEFAULTS,
    problems: [],
  })
})

test('experience 6.2 experience 6.6 every setting of the terminal replica can be given', async () => {
  const path = configFile(`{
    // the leader's own
    "backends": { "mine": { "acp": ["mine"] } },
    "composer": { "enterWhileRunning": "steering" },
    "interrupt": { "confirm": true },
    "tui": { "notifications": "never", "mouse": true, "title": false, "theme": "plain" },
  }`)
  expect(await readTuiSettings(path)).toEqual({
    settings: {
      enterWhileRunning: 'steering',
      confirmInterrupt: true,
      notifications: 'never',
      hasMouse: true,
      setsTitle: false,
      theme: 'plain',
    },
    problems: [],
  })
})

test('experience 4.4 HEADWATER_THEME goes before the file; a theme that is not there is told', async () => {
  const path = configFile('{ "tui": { "theme": "terminal" } }')
  expect((await readTuiSettings(path, { HEADWATER_THEME: 'plain' })).settings.theme).toBe('plain')
  expect((await readTuiSettings(path, { HEADWATER_THEME: '' })).settings.theme).toBe('terminal')
  expect(await readTuiSettings(path, { HEADWATER_THEME: 'plian' })).toEqual({
    settings: DEFAULTS,
    problems: ['there is no theme "plian"; did you mean "plain"?'],
  })
})

const WRONG: readonly (readonly [string, readonly string[]])[] = [
  ['{\n  "tui": {\n    "mouse": "yes"\n  }\n}', ['config.jsonc:3:5: "tui.mouse" must be true or false']],
  ['{ "tui": { "muose": true } }', ['config.jsonc:1:12: unknown key "tui.muose"; did you mean "tui.mouse"?']],
  ['{ "tiu": {} }', ['config.jsonc:1:3: unknown key "tiu"; did you mean "tui"?']],
  ['{ "tui": true }', ['config.jsonc:1:3: "tui" must be an object']],
  [
    '{ "composer": { "enterWhileRunning": "queue" } }',
    ['config.jsonc:1:17: "composer.enterWhileRunning" is one of follow_up, steering'],
  ],
  [
    '{ "tui": { "theme": 3 }, "x": 1 }',
    ['config.jsonc:1:12: "tui.theme" must be a string', 'config.jsonc:1:26: unknown key "x"'],
  ],
  ['{ "tui": { "mouse": true }', ['config.jsonc:1:27: close brace expected']],
  ['7', ['config.jsonc:1:1: it must be an object']],
]

test.each(WRONG)('experience 4.5 %j is told with line and column, and harmless', async (text, problems) => {
  expect(await readTuiSettings(configFile(text))).toEqual({ settings: DEFAULTS, problems })
})

test('experience 4.5 a file that cannot be read is told, and harmless', async () => {
  const path = join(testTempDir('settings'), 'config.jsonc')
  mkdirSync(path)
  expect(await readTuiSettings(path)).toMatchObject({
    settings: DEFAULTS,
    problems: [expect.stringContaining('EISDIR')],
  })
  expect(await readTuiSettings(configFile(' '.repeat(LIMITS.configBytes + 1)))).toMatchObject({
    settings: DEFAULTS,
    problems: [expect.stringContaining('it is over')],
  })
})

test('experience 4.5 a dotted key is its setting, and a name of an object is none', () => {
  expect(readSettings('{ "tui.mouse": true }').values['tui.mouse']).toEqual({ value: true, line: 1, column: 3 })
  expect(readSettings('{ "constructor": 1, "__proto__": {} }')).toEqual({
    values: {},
    faults: [
      { line: 1, column: 3, message: 'unknown key "constructor"', kind: 'unknown' },
      { line: 1, column: 21, message: 'unknown key "__proto__"', kind: 'unknown' },
    ],
  })
})

test('experience 4.5 every default fits its setting', () => {
  expect(
    SETTING_NAMES.flatMap(name =>
      settingOf(name).fallback === null ? [] : (misfit(name, settingOf(name).fallback) ?? []),
    ),
  ).toEqual([])
})

test('experience 4.5 JSON with comments is read with its places', () => {
  const { value, properties, broken } = readJsonc('{\r\n  /* é */ "a": [1,],\n "a": {"b": null},\n}')
  expect({ value, broken }).toEqual({ value: { a: { b: null } }, broken: undefined })
  expect(properties.map(({ name, line, column, isObject }) => ({ name, line, column, isObject }))).toEqual([
    { name: 'a', line: 2, column: 11, isObject: false },
    { name: 'a', line: 3, column: 2, isObject: true },
  ])
  expect(readJsonc('['.repeat(100_000)).broken).toBeDefined()
})
