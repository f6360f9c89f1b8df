import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isolatedEnvironment } from '../support/environment.ts'
import { BIN, startLeaderProcess } from '../support/leader-process.ts'
import { testTempDir } from '../support/temp-dir.ts'

/** Prints the address of every module that is loaded. */
const HOOKS = `data:text/javascript,${encodeURIComponent(`
import { register } from 'node:module'
register('data:text/javascript,' + encodeURIComponent(\`
import { writeSync } from 'node:fs'
export async function resolve(specifier, context, next) {
  const found = await next(specifier, context)
  writeSync(2, 'LOADED ' + found.url + '\\\\n')
  return found
}\`))`)}`

function packagesLoaded(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): { code: number | null; names: Set<string> } {
  const { status, stderr } = spawnSync(process.execPath, ['--import', HOOKS, BIN, ...args], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  })
  const names = [...stderr.matchAll(/^LOADED .*\/node_modules\/((?:@[^/]+\/)?[^/]+)/gm)].map(
    ([, name]) => name as string,
  )
  return { code: status, names: new Set(names) }
}

test.each([[['--version']], [['--help']], [['run', '--help']], [['no-such-command']]])(
  'experience 16 %j loads nothing heavy',
  args => {
    const { names } = packagesLoaded(args, {})
    expect(names).toContain('commander')
    expect([...names].sort()).toEqual(
      ['ansi-regex', 'commander', 'strip-ansi'].concat(args[0] === 'no-such-command' ? ['picocolors'] : []).sort(),
    )
  },
)

test('experience 16 status and stop load no document library, no database, no logger', async () => {
  const directory = testTempDir('start-up')
  const env = isolatedEnvironment(directory)
  const root = join(directory, 'root')
  const leader = await startLeaderProcess({ root, env })
  for (const command of ['status', 'stop']) {
    const { code, names } = packagesLoaded(['--root', root, command], env)
    expect({ command, code }).toEqual({ command, code: 0 })
    expect(names).toContain('ws')
    for (const heavy of ['yjs', 'y-protocols', 'y-websocket', 'level', 'classic-level', 'pino', 'prom-client'])
      expect(names).not.toContain(heavy)
  }
  expect(await leader.exited).toEqual({ code: 0, signal: null })
})

test('experience 3.3 an old Node is told in a sentence', () => {
  const old = `Object.defineProperty(process.versions, 'node', { value: '18.20.0' })`
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(old)}`, BIN, '--version'],
    {
      encoding: 'utf8',
    },
  )
  expect({ status, stderr }).toEqual({
    status: 2,
    stderr: 'headwater: needs Node 20.19 or newer; this is Node 18.20.0. (usage)\n',
  })
})
