import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { served } from '../support/cli/served.ts'
import { runCli } from '../support/run-cli.ts'

test('R2 R8 the leader of a root is not taken for that of its copy or of its restored backup', {
  timeout: 60_000,
}, async () => {
  const { root, env, cli, json, leader } = await served()
  const [backup, restored, copy] = ['backup', 'restored', 'copy'].map(name => join(root, '..', name)) as [
    string,
    string,
    string,
  ]
  expect((await cli(['backup', backup])).code).toBe(0)
  expect((await runCli(['--root', restored, 'restore', backup], { env })).code).toBe(0)
  cpSync(root, copy, { recursive: true, filter: path => !path.endsWith('LOCK') })
  for (const [other, code] of [
    [restored, 'root_name_taken'],
    [copy, 'root_identity_changed'],
  ] as const) {
    const at = (...args: string[]) => runCli(['--root', other, '--json', ...args], { env })
    expect((await at('status')).code).toBe(5)
    const made = await at('session', 'new')
    expect([made.code, made.stdout]).toEqual([5, expect.stringContaining('a leader was started but ended')])
    expect(made.stdout).toContain(code === 'root_name_taken' ? 'second copy of the root' : 'moved, copied or swapped')
    await at('stop')
  }
  expect(await json('session', 'list')).toMatchObject({ ok: true, result: { sessions: [] } })
  expect(await json('status')).toMatchObject({ ok: true, result: { hostEpoch: leader.line.hostEpoch } })
})
