import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FileCache } from '../../replica/cache/node/file-cache.ts'
import { COMPLETION_SCRIPTS } from '../../replica/cli/commands/completion/scripts.ts'
import { COMMANDS } from '../../replica/cli/program.ts'
import type { CatalogRow } from '../../schema/entities/projection.ts'
import { callCli } from '../support/cli/call-cli.ts'
import { testTempDir } from '../support/temp-dir.ts'

const forbidden = async () => {
  throw new Error('a leader was looked for')
}

async function offered(words: readonly string[], env: Record<string, string> = {}): Promise<readonly string[]> {
  const outcome = await callCli(['complete', '--', ...words], { env, connect: forbidden })
  expect({ code: outcome.code, stderr: outcome.stderr }).toEqual({ code: 0, stderr: '' })
  return outcome.stdout.split('\n').flatMap(line => (line === '' ? [] : [line.split('\t')[0] as string]))
}

const ROWS: readonly (readonly [readonly string[], readonly string[]])[] = [
  [['sess'], ['session']],
  [
    ['session', 're'],
    ['rename', 'remove'],
  ],
  [['config', ''], ['show']],
  [['session', 'list', '--ar'], ['--archived']],
  [
    ['--color', ''],
    ['auto', 'always', 'never'],
  ],
  [['--color=a'], ['--color=auto', '--color=always']],
  [
    ['run', '--format', 'json'],
    ['json', 'jsonl'],
  ],
  [['run', '--on-permission=f'], ['--on-permission=fail']],
  [
    ['queue', 'ID', 're'],
    ['resume', 'retract'],
  ],
  [
    ['--root', 'session', 'plan', 'ID', 'a'],
    ['approve', 'abandon'],
  ],
  [['task', 'ID', ''], ['list']],
  [
    ['completion', ''],
    ['bash', 'zsh', 'fish'],
  ],
  [['help', 'exit'], ['exit-codes']],
  [['help', 'session', 'sh'], ['show']],
  [['explain', 'session_b'], ['session_busy']],
  [['send', '--', '--st'], []],
  [['import', ''], []],
  [['no-such', ''], []],
  [['status', 'extra', ''], []],
  [['comp'], ['completion']],
]

test.each(ROWS)('experience 3.1 after %j come %j', async (words, expected) => {
  expect(await offered(words)).toEqual(expected)
})

test('experience 3.1 every command that people see is offered, and no other', async () => {
  const firsts = new Set(COMMANDS.flatMap(({ name, isHidden }) => (isHidden === true ? [] : [name.split(' ')[0]])))
  expect(await offered([''])).toEqual([...firsts])
  expect(await offered([''])).not.toContain('complete')
  expect((await callCli(['--help'])).stdout).not.toMatch(/^ {2}complete\b/m)
})

const row = (sessionId: string, over: Partial<CatalogRow> = {}): CatalogRow => ({
  sessionId,
  title: '',
  status: 'idle',
  isArchived: false,
  lastActivityAt: 1,
  queueCount: 0,
  pendingCount: 0,
  revision: 1,
  ...over,
})

async function seen(): Promise<Record<string, string>> {
  const directory = testTempDir('completion')
  const env = { XDG_CACHE_HOME: join(directory, 'cache'), XDG_DATA_HOME: join(directory, 'data') }
  const cache = new FileCache(join(env.XDG_CACHE_HOME, 'headwater', 'replica'))
  const value = [
    row('1111-a', { title: 'Fix\u001b]0;x\u0007 the\tlogin\nbug' }),
    row('2222-b'),
    row('1133-c', { isArchived: true }),
    row('11$(rm)'),
  ]
  const rootId = 'a'.repeat(64)
  await cache.write({ rootId, kind: 'catalog', id: '' }, { hostEpoch: 'e', asOf: 1, savedAt: 1, value })
  await cache.writeAddress(join(env.XDG_DATA_HOME, 'headwater', 'root'), rootId)
  await cache.writeAddress('/other', 'b'.repeat(64))
  await cache.close()
  return env
}

test('experience 3.1 sessions are completed from what was seen here; no leader is asked', async () => {
  const env = await seen()
  expect(await offered(['session', 'show', ''], env)).toEqual(['1111-a', '2222-b'])
  expect(await offered(['run', 'hi', '-s', '1'], env)).toEqual(['1111-a'])
  expect(await offered(['doctor', '--repair', '2'], env)).toEqual(['2222-b'])
  expect(await offered(['send', '1111-a', ''], env)).toEqual([])
  expect(await offered(['--root', '/other', 'session', 'show', ''], env)).toEqual([])
  expect(await offered(['session', 'show', ''], { XDG_CACHE_HOME: '/nowhere' })).toEqual([])
  const { stdout } = await callCli(['complete', '--', 'session', 'show', '11'], { env })
  expect(stdout).toBe('1111-a\tFix the login bug\n')
})

test('experience 3.1 completion prints the script of a shell, and knows no other', async () => {
  for (const shell of ['bash', 'zsh', 'fish'] as const) {
    expect((await callCli(['completion', shell])).stdout).toBe(COMPLETION_SCRIPTS[shell])
  }
  const { code, stderr } = await callCli(['completion', 'bahs'])
  expect(code).toBe(2)
  expect(stderr).toContain('did you mean bash?')
})

/** A stand-in for the program: it writes down what it is asked and answers with fixed lines. */
function inBash(line: string, answers: string): { readonly asked: string; readonly reply: readonly string[] } {
  const directory = testTempDir('completion-bash')
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'script'), COMPLETION_SCRIPTS.bash)
  writeFileSync(join(directory, 'answers'), answers)
  const { stdout, stderr, status } = spawnSync(
    'bash',
    [
      '--norc',
      '-c',
      [
        'headwater() { printf "<%s>" "$@" > asked; cat answers; }',
        'source ./script',
        'COMP_LINE="$1"',
        `COMP_POINT=\${#COMP_LINE}`,
        '_headwater',
        'cat asked; echo',
        `printf "%s\\n" "\${COMPREPLY[@]}"`,
      ].join('\n'),
      'bash',
      line,
    ],
    { cwd: directory, encoding: 'utf8' },
  )
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  const [asked = '', ...reply] = stdout.trimEnd().split('\n')
  return { asked, reply: reply.filter(word => word !== '') }
}

test('experience 3.1 the script of bash asks with the words as they are and takes the answers', () => {
  expect(inBash('headwater session ', 'list\tthe sessions\nshow\ta session\n')).toEqual({
    asked: '<complete><--><session><>',
    reply: ['list', 'show'],
  })
  expect(inBash('headwater --color=al', '--color=always\t\n')).toEqual({
    asked: '<complete><--><--color=al>',
    reply: ['always'],
  })
  expect(inBash('headwater wait ID --for turn:a', 'turn:abc\t\n')).toEqual({
    asked: '<complete><--><wait><ID><--for><turn:a>',
    reply: ['abc'],
  })
  expect(inBash('headwater import ', '')).toEqual({ asked: '<complete><--><import><>', reply: [] })
})
