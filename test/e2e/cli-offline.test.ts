import { readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { served } from '../support/cli/served.ts'
import { runCli } from '../support/run-cli.ts'

const copiesIn = (env: Readonly<Record<string, string>>): string[] =>
  readdirSync(join(env.XDG_CACHE_HOME as string, 'headwater', 'replica')).filter(name => name.endsWith('.json'))

test('O2 session show --offline prints what was last seen, without a leader and without the root', async () => {
  const { cli, json, leader, root, newSession } = await served()
  const id = await newSession()
  await cli(['run', 'Hello', '-s', id])
  const shown = await cli(['session', 'show', id])
  const live = (await json('session', 'show', id)).result
  await leader.stop()
  renameSync(root, `${root}-away`)

  const offline = await cli(['session', 'show', id, '--offline'])
  expect(offline).toMatchObject({ code: 0, stdout: shown.stdout })
  expect(offline.stdout).toContain('› Hello\n')
  expect(offline.stderr).toMatch(/^title\tHello\n(?:\w.*\n)*seen\toffline, as of \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\n$/)
  expect((await json('session', 'show', id, '--offline')).result).toEqual({
    session: live.session,
    freshness: { state: 'offline', asOf: expect.any(Number) },
    transcript: live.transcript,
    turns: live.turns,
  })
  const newest = await cli(['session', 'show', id, '--offline', '--limit', '1'])
  expect(newest).toMatchObject({ code: 0, stdout: 'Hello\n', stderr: expect.stringContaining('the newest 1 ') })
})

test('O2 session show --offline of what was never seen here is refused with exit code 3', async () => {
  const { cli, json, root, env, newSession } = await served()
  const id = await newSession()
  const unseen = await cli(['session', 'show', id, '--offline'])
  expect(unseen).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining(`Session ${id} was never seen`) })
  await cli(['session', 'show', id])
  expect(await json('session', 'show', 'another', '--offline')).toMatchObject({
    ok: false,
    error: { code: 'not_found', detail: { sessionId: 'another' } },
  })
  const elsewhere = await runCli(['--root', `${root}-other`, 'session', 'show', id, '--offline'], { env })
  expect(elsewhere).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining(`${root}-other`) })
})

test('O4 cache clear removes every copy and says how much it was', async () => {
  const { cli, json, env, newSession } = await served()
  const id = await newSession()
  await cli(['session', 'show', id])
  expect(copiesIn(env)).not.toEqual([])
  const cleared = await cli(['cache', 'clear'])
  expect(cleared).toMatchObject({ code: 0, stderr: expect.stringContaining('copies were removed from ') })
  expect(cleared.stdout).toMatch(/^\d[\d.]* (B|KiB)\n$/)
  expect(copiesIn(env)).toEqual([])
  expect((await cli(['session', 'show', id, '--offline'])).code).toBe(3)
  expect(await json('cache', 'clear')).toEqual({ ok: true, result: { folder: expect.any(String), bytes: 0 } })
  expect((await cli(['session', 'show', id])).code).toBe(0)
})
