import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { callCli } from '../support/cli/call-cli.ts'
import { testTempDir } from '../support/temp-dir.ts'

interface Row {
  readonly name: string
  readonly value: unknown
  readonly origin: Readonly<Record<string, unknown>>
}

function configured(text: string): { readonly file: string; readonly env: Record<string, string> } {
  const directory = testTempDir('cli-config')
  mkdirSync(join(directory, 'headwater'))
  const file = join(directory, 'headwater', 'config.jsonc')
  writeFileSync(file, text)
  return { file, env: { XDG_CONFIG_HOME: directory, XDG_DATA_HOME: '/data' } }
}

async function shown(args: readonly string[], env: Record<string, string>): Promise<Readonly<Record<string, Row>>> {
  const { code, stdout } = await callCli(['config', 'show', '--json', ...args], { env })
  expect(code).toBe(0)
  const { settings } = (JSON.parse(stdout) as { result: { settings: Row[] } }).result
  return Object.fromEntries(settings.map(row => [row.name, row]))
}

test('experience 4.5 each value comes from a flag, else the environment, else the file, else the default', async () => {
  const { file, env } = configured('{\n  "tui": { "theme": "plain",\n    "mouse": true },\n}')
  const plain = await shown([], env)
  expect(plain['tui.mouse']).toEqual({
    name: 'tui.mouse',
    value: true,
    origin: { kind: 'file', path: file, line: 3, column: 5 },
  })
  expect(plain['tui.theme']?.value).toBe('plain')
  expect(plain['tui.title']).toEqual({ name: 'tui.title', value: true, origin: { kind: 'default' } })
  expect(plain.root).toEqual({
    name: 'root',
    value: '/data/headwater/root',
    origin: { kind: 'env', name: 'XDG_DATA_HOME' },
  })
  expect(plain.color).toEqual({ name: 'color', value: false, origin: { kind: 'default' } })
  const chosen = await shown(['--root', '/mine', '--color', 'always'], {
    ...env,
    HEADWATER_ROOT: '/env',
    HEADWATER_THEME: 'terminal',
    NO_COLOR: '1',
    CI: 'true',
  })
  expect(chosen.root).toEqual({ name: 'root', value: '/mine', origin: { kind: 'flag', name: '--root' } })
  expect(chosen.color).toEqual({ name: 'color', value: true, origin: { kind: 'flag', name: '--color' } })
  expect(chosen['tui.theme']?.origin).toEqual({ kind: 'env', name: 'HEADWATER_THEME' })
  expect(chosen.input).toEqual({ name: 'input', value: false, origin: { kind: 'env', name: 'CI' } })
  const byEnv = await shown([], { ...env, HEADWATER_ROOT: '/env', NO_COLOR: '1' })
  expect(byEnv.root).toEqual({ name: 'root', value: '/env', origin: { kind: 'env', name: 'HEADWATER_ROOT' } })
  expect(byEnv.color?.origin).toEqual({ kind: 'env', name: 'NO_COLOR' })
})

test('experience 4.5 config show --origin says where each comes from, in text', async () => {
  const { file, env } = configured('{ "defaultBackend": "mine" }')
  const { code, stdout, stderr } = await callCli(['config', 'show', '--origin'], { env })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const lines = stdout.trimEnd().split('\n')
  expect(lines).toContain(`defaultBackend\tmine\t${file}:1:3`)
  expect(lines).toContain('composer.enterWhileRunning\tfollow_up\tdefault')
  expect(lines.every(line => line.split('\t').length === 3)).toBe(true)
  const short = (await callCli(['config', 'show'], { env })).stdout.trimEnd().split('\n')
  expect(short).toContain('defaultBackend\tmine')
})

test('experience 4.5 of the agents nothing but their names is shown', async () => {
  const { env } = configured('{ "backends": { "mine": { "acp": ["mine"], "env": { "KEY": "secret-value" } } } }')
  for (const args of [['--origin'], ['--json']]) {
    const { stdout } = await callCli(['config', 'show', ...args], { env })
    expect(stdout).toContain('mine')
    expect(stdout).not.toContain('secret-value')
  }
})

test('experience 4.5 what does no harm is told on stderr, with line and column', async () => {
  const { file, env } = configured('{\n  "tui": { "muose": true },\n  "interrupt": { "confirm": 1 } }')
  const { code, stdout, stderr } = await callCli(['config', 'show', '--json'], { env })
  expect(code).toBe(0)
  expect(stderr).toBe(
    `${file}:2:12: unknown key "tui.muose"; did you mean "tui.mouse"?\n${file}:3:18: "interrupt.confirm" must be true or false\n`,
  )
  expect(JSON.parse(stdout)).toMatchObject({ ok: true })
})

test.each([
  ['{ "tui": ', /config\.jsonc cannot be used: line 1, column \d+: /],
  ['{ "defaultBackend": 3 }', /line 1, column 3: "defaultBackend" must be a string/],
  ['[]', /it must be an object/],
])('experience 4.2 %s is a usage error', async (text, sentence) => {
  const { env } = configured(text)
  const { code, stderr } = await callCli(['config', 'show'], { env })
  expect(code).toBe(2)
  expect(stderr).toMatch(sentence)
})
