import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { DirectorySummary } from '../../leader/index.ts'
import { restoreRoot, verifyDirectory } from '../../leader/index.ts'
import type { LeaderConnection } from '../../replica/client/types.ts'
import type { Fault } from '../../schema/commands/host.ts'
import { isTerminal } from '../../schema/entities/turn.ts'
import { rootAt, testRoot } from '../support/live/test-root.ts'
import { damageDatabase, flipped } from '../support/raw-database.ts'
import { runCli } from '../support/run-cli.ts'
import { mountSmallDisk } from '../support/small-disk.ts'
import { waitFor } from '../support/wait-for.ts'

const LIVE_MS = 20_000

async function check(directory: string): Promise<DirectorySummary & { faults: readonly Fault[] }> {
  const walk = verifyDirectory(directory)
  const faults: Fault[] = []
  for (;;) {
    const step = await walk.next()
    if (step.done) return { ...step.value, faults }
    faults.push(step.value)
  }
}

async function turn(connection: LeaderConnection, sessionId: string, turnId: string): Promise<void> {
  await connection.startTurn({ sessionId, turnId, content: { text: `say ${turnId}` } })
  await waitFor(async () => isTerminal((await connection.queryTurn({ sessionId, turnId })).status), {
    deadlineMs: LIVE_MS,
  })
}

/** Writes without a pause until it is told to stop; `acknowledged` are the commands that were answered. */
function keepWriting(
  connection: LeaderConnection,
  sessionId: string,
): { acknowledged: string[]; stop(): Promise<void> } {
  const acknowledged: string[] = []
  let isStopped = false
  const write = async (): Promise<void> => {
    let { revision } = (await connection.request('session.get', { sessionId })).session
    for (let n = 1; !isStopped; n++) {
      const operationId = `${sessionId}-${n}`
      const patch = { title: `title ${n} of ${sessionId}` }
      const result = await connection.request('session.update', {
        sessionId,
        operationId,
        expectedRevision: revision,
        patch,
      })
      if (result.kind === 'committed') revision = result.session.revision
      acknowledged.push(operationId)
    }
  }
  const done = write()
  return {
    acknowledged,
    stop: () => {
      isStopped = true
      return done
    },
  }
}

test('D3 D2 a backup of a leader that three clients write on is whole: it holds all that was acknowledged before, and the root it is put back into is well', async () => {
  const root = testRoot()
  const backup = join(root.path, '..', 'backup')
  const restored = join(root.path, '..', 'restored')
  await root.start()
  const clients: LeaderConnection[] = []
  for (const sessionId of ['a', 'b', 'c']) {
    const client = await root.connect()
    await client.createSession({ sessionId, cwd: '/', backend: 'scripted' })
    await turn(client, sessionId, 't')
    clients.push(client)
  }
  const [a, b, c] = clients as [LeaderConnection, LeaderConnection, LeaderConnection]
  const writers = ['a', 'b', 'c'].map((sessionId, i) => keepWriting(clients[i] as LeaderConnection, sessionId))
  await waitFor(() => writers.every(({ acknowledged }) => acknowledged.length >= 50), { deadlineMs: LIVE_MS })
  const before = writers.map(({ acknowledged }) => [...acknowledged])
  const progress: unknown[] = []
  const made = await a.request('root.backup', { path: backup }, { onProgress: p => progress.push(p) })
  const during = writers.map(({ acknowledged }, i) => acknowledged.length - (before[i] as string[]).length)
  for (const writer of writers) await writer.stop()
  expect(made.records).toBeGreaterThan(150)
  expect(during.every(count => count > 0)).toBe(true)
  expect((await b.request('root.verify', {})).faults).toEqual([])
  await expect(c.request('root.backup', { path: backup })).rejects.toMatchObject({ code: 'root_not_empty' })

  const checked = await check(backup)
  expect(checked).toMatchObject({ by: 'backup', sessions: 3, faults: [] })
  const put = await restoreRoot({ backup, root: restored, isCopy: true })
  expect(put.note).toMatchObject({ rootId: expect.any(String), records: made.records, bytes: made.bytes })
  expect(put.rootId).not.toBe(put.note.rootId)
  expect(await check(restored)).toMatchObject({ by: 'view', sessions: 3, records: checked.records, faults: [] })

  const copy = rootAt(restored, join(root.path, '..', 'of-the-copy'))
  await copy.start()
  const reader = await copy.connect()
  for (const [i, sessionId] of ['a', 'b', 'c'].entries()) {
    for (const id of before[i] as string[]) {
      const found = await reader.request('receipt.query', { sessionId, operation: 'session.update', id })
      if (!found.stored) throw new Error(`${id} was acknowledged before the backup and is not in it`)
    }
    await turn(reader, sessionId, 'afterwards')
  }
  expect((await reader.request('root.verify', {})).faults).toEqual([])
}, 120_000)

test('D3 from the command line: backup of a running leader and of none, restore, and what is refused', async () => {
  const root = testRoot()
  const place = (name: string): string => join(root.path, '..', name)
  const leader = await root.start()
  const connection = await root.connect()
  await connection.createSession({ sessionId: 's', cwd: '/', backend: 'scripted' })
  await turn(connection, 's', 't')
  const cli = (...args: string[]) => runCli(['--root', root.path, ...args])
  expect(await cli('backup', place('live'))).toMatchObject({ code: 0 })
  expect(await cli('backup', join(root.path, 'inside'))).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('invalid_request'),
  })
  await connection.close()
  await leader.stop()
  expect(await cli('backup', place('still'))).toMatchObject({ code: 0 })
  for (const name of ['live', 'still']) expect(await check(place(name))).toMatchObject({ sessions: 1, faults: [] })
  const refused = { code: 3, stderr: expect.stringContaining('root_not_empty') }
  expect(await cli('backup', place('still'))).toMatchObject(refused)
  expect(await cli('restore', place('live'))).toMatchObject(refused)
  const put = await runCli(['--root', place('again'), 'restore', place('live'), '--json'])
  expect(JSON.parse(put.stdout)).toMatchObject({ ok: true, result: { sessions: 1, isCopy: false } })
  const mode = statSync(join(place('again'), 'headwater.token')).mode & 0o777
  expect(mode).toBe(0o600)
  expect(await runCli(['--root', place('again'), 'verify'])).toMatchObject({ code: 0 })
}, 60_000)

test('D3 R1 a torn backup and a damaged one are told apart from a whole one, and neither is put back', async () => {
  const root = testRoot()
  const backup = join(root.path, '..', 'backup')
  const target = join(root.path, '..', 'target')
  await root.offline(async store => void (await store.createSession({ sessionId: 's', cwd: '/', backend: 'scripted' })))
  expect(await runCli(['--root', root.path, 'backup', backup])).toMatchObject({ code: 0 })
  await damageDatabase(backup, ({ stored, putStored }) => putStored('hs', flipped(stored.get('hs'))))
  expect((await check(backup)).faults.map(({ kind }) => kind)).toContain('backup_differs')
  await expect(restoreRoot({ backup, root: target, isCopy: false })).rejects.toMatchObject({ code: 'storage_fault' })
  expect(existsSync(target)).toBe(false)
  rmSync(join(backup, 'backup.json'))
  const torn = { code: 'not_found', detail: { kind: 'backup_torn' } }
  await expect(check(backup)).rejects.toMatchObject(torn)
  await expect(restoreRoot({ backup, root: target, isCopy: false })).rejects.toMatchObject(torn)
  mkdirSync(target)
  writeFileSync(join(target, 'mine.txt'), 'mine')
  rmSync(backup, { recursive: true })
  expect(await runCli(['--root', root.path, 'backup', target])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('root_not_empty'),
  })
  expect(readdirSync(target)).toEqual(['mine.txt'])
}, 60_000)

/** Stores bytes that do not compress in a leader. */
async function upload(url: string, root: string, body: Buffer): Promise<void> {
  const token = readFileSync(join(root, 'headwater.token'), 'utf8').trim()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream' }
  const reply = await fetch(`${url}/v1/artifacts`, { method: 'PUT', headers, body: new Uint8Array(body) })
  expect(reply.status).toBe(200)
}

test('D3 E8 where the target has no room it is told, nothing is left there, and the leader goes on', async context => {
  const disk = mountSmallDisk(1)
  if ('reason' in disk) return context.skip(disk.reason)
  const root = testRoot()
  const leader = await root.start()
  const connection = await root.connect()
  await connection.createSession({ sessionId: 's', cwd: '/', backend: 'scripted' })
  await upload(leader.line.url, root.path, randomBytes(3_000_000))
  const path = join(disk.path, 'deep', 'backup')
  await expect(connection.request('root.backup', { path })).rejects.toMatchObject({ code: 'storage_full' })
  expect(readdirSync(disk.path)).toEqual([])
  await turn(connection, 's', 'afterwards')
}, 60_000)

test('D2 R9 a root and a backup where nothing may be written are checked like any other', async context => {
  const root = testRoot()
  const backup = join(root.path, '..', 'backup')
  await root.offline(async store => void (await store.createSession({ sessionId: 's', cwd: '/', backend: 'scripted' })))
  expect(await runCli(['--root', root.path, 'backup', backup])).toMatchObject({ code: 0 })
  for (const path of [root.path, backup]) {
    try {
      execFileSync('mount', ['--bind', path, path], { stdio: 'pipe' })
      onTestFinished(() => void execFileSync('umount', ['-l', path], { stdio: 'pipe' }))
      execFileSync('mount', ['-o', 'remount,ro,bind', path], { stdio: 'pipe' })
    } catch {
      return context.skip('mounting needs root')
    }
  }
  expect(await check(root.path)).toMatchObject({ by: 'copy', sessions: 1, faults: [] })
  expect(await check(backup)).toMatchObject({ by: 'backup', sessions: 1, faults: [] })
}, 60_000)
