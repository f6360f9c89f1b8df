import { spawnSync } from 'node:child_process'
import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ownerName } from '../../leader/log/root/evidence.ts'
import { tryAcquireRootOwner } from '../../leader/log/root/owner.ts'
import { tryAcquireRootReader } from '../../leader/log/root/reader.ts'
import { resolveRoot } from '../../leader/log/root/resolve.ts'
import { spawnHolder } from '../support/root/process.ts'
import { listNames, own, readRoot } from '../support/root/roots.ts'
import { testTempDir } from '../support/temp-dir.ts'
import { waitFor } from '../support/wait-for.ts'

const isLinux = process.platform === 'linux'
const NAMESPACE = ['unshare', '--net']
const hasNamespaces = isLinux && spawnSync('unshare', ['--net', 'true']).status === 0
const GOT = { got: true, rootId: expect.any(String) }
const LOST = { got: false, rootId: expect.any(String) }

test('R3 A1 of several processes that come at once to a cold root exactly one owns it, and all see the same root', async () => {
  const path = join(testTempDir(), 'root')
  const answers = await Promise.all(Array.from({ length: 5 }, () => spawnHolder(path, 'owner').first))
  expect(answers.filter(answer => answer.got === true).length).toBe(1)
  expect(answers.filter(answer => answer.got === false).length).toBe(4)
  expect(new Set(answers.map(answer => answer.rootId)).size).toBe(1)
})

test('R3 an owner killed with SIGKILL is replaced within 2 s, by another process as well as by this one', async () => {
  const path = join(testTempDir(), 'root')
  const first = spawnHolder(path, 'owner')
  expect(await first.first).toEqual(GOT)
  const root = await resolveRoot({ path })
  expect(await tryAcquireRootOwner(root)).toBeUndefined()
  first.signal('SIGKILL')
  const owner = await waitFor(() => tryAcquireRootOwner(root), { deadlineMs: 2_000, what: 'the killed owner replaced' })
  await owner.close()
  const third = spawnHolder(path, 'owner')
  expect(await third.first).toEqual(GOT)
  await third.kill()
  await (await own(root)).close()
})

test('R6 a stopped owner without an endpoint is not displaced', async () => {
  const path = join(testTempDir(), 'root')
  const holder = spawnHolder(path, 'owner')
  expect(await holder.first).toEqual(GOT)
  holder.signal('SIGSTOP')
  const root = await resolveRoot({ path })
  expect(await tryAcquireRootOwner(root)).toBeUndefined()
  expect(await tryAcquireRootReader(root)).toBeUndefined()
  holder.signal('SIGCONT')
  expect(await holder.ask('prove')).toEqual({ done: 'prove' })
})

test('R4 tries inside the owning process do not open the root to another one', async () => {
  const root = await resolveRoot({ path: testTempDir() })
  await own(root)
  for (let i = 0; i < 3; i++) {
    expect(await tryAcquireRootOwner(root)).toBeUndefined()
    expect(await tryAcquireRootReader(root)).toBeUndefined()
  }
  const [owner, reader] = [spawnHolder(root.path, 'owner'), spawnHolder(root.path, 'reader')]
  expect(await Promise.all([owner.first, reader.first])).toEqual([LOST, LOST])
})

test.runIf(hasNamespaces)('R3 a candidate in another network namespace loses, whichever of the two owns', async () => {
  const root = await resolveRoot({ path: testTempDir() })
  const inside = await own(root)
  expect(await spawnHolder(root.path, 'owner', NAMESPACE).first).toEqual(LOST)
  expect(await spawnHolder(root.path, 'reader', NAMESPACE).first).toEqual(LOST)
  await inside.close()
  const outside = spawnHolder(root.path, 'owner', NAMESPACE)
  expect(await outside.first).toEqual(GOT)
  expect(await tryAcquireRootOwner(root)).toBeUndefined()
  await outside.kill()
  await own(root)
})

test.runIf(isLinux)(
  'R3 an owner whose LOCK file was removed goes on, and a candidate is refused with root_name_taken',
  async () => {
    const path = join(testTempDir(), 'root')
    const holder = spawnHolder(path, 'owner')
    expect(await holder.first).toEqual(GOT)
    rmSync(join(path, 'lock', 'LOCK'))
    const root = await resolveRoot({ path })
    const refusal = {
      code: 'root_name_taken',
      message: expect.stringContaining(ownerName(root.rootId)?.slice(1, 80) ?? '-'),
    }
    await expect(tryAcquireRootOwner(root)).rejects.toMatchObject(refusal)
    await expect(tryAcquireRootReader(root)).rejects.toMatchObject(refusal)
    expect(await spawnHolder(path, 'owner').first).toMatchObject(refusal)
    rmSync(join(path, 'lock'), { recursive: true })
    await expect(tryAcquireRootOwner(root)).rejects.toMatchObject(refusal)
    expect(await holder.ask('prove')).toEqual({ done: 'prove' })
    await holder.kill()
    await own(root)
  },
)

test('R5 an owner whose directory was replaced by another root has lost it; the new root can be owned', async () => {
  const directory = testTempDir()
  const path = join(directory, 'root')
  const holder = spawnHolder(path, 'owner')
  expect(await holder.first).toEqual(GOT)
  expect(await holder.ask('prove')).toEqual({ done: 'prove' })
  renameSync(path, join(directory, 'away'))
  expect(await holder.ask('prove')).toEqual({ code: 'ownership_lost' })
  mkdirSync(path)
  await own(await resolveRoot({ path }))
  expect(await holder.ask('prove')).toEqual({ code: 'ownership_lost' })
  // the old directory is a root that was moved, and still owned
  expect(await tryAcquireRootOwner(await resolveRoot({ path: join(directory, 'away') }))).toBeUndefined()
  expect(await holder.ask('close')).toEqual({ done: 'close' })
  await own(await resolveRoot({ path: join(directory, 'away') }))
})

test('R10 an owner that closed is replaced at once, while its process lives on', async () => {
  const path = join(testTempDir(), 'root')
  const holder = spawnHolder(path, 'owner')
  expect(await holder.first).toEqual(GOT)
  expect(await holder.ask('close')).toEqual({ done: 'close' })
  const owner = await own(await resolveRoot({ path }))
  owner.prove()
  expect(await holder.ask('prove')).toEqual({ code: 'invalid_lease' })
})

test('R9 readers in several processes coexist with each other and with a later owner', async () => {
  const path = join(testTempDir(), 'root')
  const readers = [spawnHolder(path, 'reader'), spawnHolder(path, 'reader'), spawnHolder(path, 'reader')]
  expect(await Promise.all(readers.map(reader => reader.first))).toEqual([GOT, GOT, GOT])
  const root = await resolveRoot({ path })
  await own(root)
  expect(listNames(join(path, 'views')).length).toBe(3)
})

test('R9 the view of a killed reader is removed by the next owner, that of a living one is not', async () => {
  const path = join(testTempDir(), 'root')
  const [dead, living] = [spawnHolder(path, 'reader'), spawnHolder(path, 'reader')]
  expect(await Promise.all([dead.first, living.first])).toEqual([GOT, GOT])
  await dead.kill()
  const root = await resolveRoot({ path })
  const ours = await readRoot(root)
  await (await own(root)).close()
  expect(listNames(join(path, 'views')).length).toBe(2)
  expect(await living.ask('close')).toEqual({ done: 'close' })
  expect(listNames(join(path, 'views')).length).toBe(1)
  await ours.close()
  expect(listNames(path)).not.toContain('views')
})
