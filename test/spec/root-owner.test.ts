import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ownerName } from '../../leader/log/root/evidence.ts'
import { tryAcquireRootOwner } from '../../leader/log/root/owner.ts'
import { resolveRoot } from '../../leader/log/root/resolve.ts'
import { listNames, own } from '../support/root/roots.ts'
import { testTempDir } from '../support/temp-dir.ts'
import { waitFor } from '../support/wait-for.ts'

const isLinux = process.platform === 'linux'

test('R9 a second owner of the same process gets undefined, the lock is not touched, and after close the root is free', async () => {
  const root = await resolveRoot({ path: testTempDir() })
  const first = await own(root)
  const before = listNames(join(root.path, 'lock'))
  const lock = statSync(join(root.path, 'lock', 'LOCK'), { bigint: true })
  expect(await tryAcquireRootOwner(root)).toBeUndefined()
  expect(await tryAcquireRootOwner(await resolveRoot({ path: root.path }))).toBeUndefined()
  expect(listNames(join(root.path, 'lock'))).toEqual(before)
  expect(statSync(join(root.path, 'lock', 'LOCK'), { bigint: true })).toEqual(lock)
  first.prove()
  await first.close()
  expect(first.closed).toBe(true)
  const second = await own(root)
  expect(second.closed).toBe(false)
})

test('R9 of many that try at once exactly one becomes owner', async () => {
  const root = await resolveRoot({ path: testTempDir() })
  const got = await Promise.all(Array.from({ length: 10 }, () => tryAcquireRootOwner(root)))
  const owners = got.filter(owner => owner !== undefined)
  expect(owners.length).toBe(1)
  await owners[0]?.close()
})

test('R9 the owner has the capability it was given, and no database yet', async () => {
  const root = await resolveRoot({ path: testTempDir() })
  const owner = await own(root)
  expect(owner.capability).toBe(root)
  expect(owner.databasePath).toBe(join(root.path, 'database'))
  expect(owner.databaseCreated()).toBe(false)
  expect(existsSync(owner.databasePath)).toBe(false)
})

test('R3 the name is NUL and 107 characters on Linux, a pipe on Windows, and none elsewhere', () => {
  const name = ownerName('ab'.repeat(32), 'linux')
  expect(name).toMatch(/^\0headwater-root-[0-9a-f]{64}-*$/)
  expect(Buffer.byteLength(name ?? '')).toBe(108)
  expect(ownerName('ab'.repeat(32), 'win32')).toMatch(/^\\\\\.\\pipe\\headwater-root-[0-9a-f]{64}$/)
  expect(ownerName('ab'.repeat(32), 'darwin')).toBeUndefined()
  expect(ownerName('cd'.repeat(32), 'linux')).not.toBe(name)
})

test.runIf(isLinux)(
  'R3 a name that is taken while the lock is free is root_name_taken and says how to find the holder',
  async () => {
    const root = await resolveRoot({ path: testTempDir() })
    const name = ownerName(root.rootId) as string
    const squatter = createServer()
    await new Promise<void>(resolve => squatter.listen({ path: name }, resolve))
    const visible = name.slice(1, 80)
    await expect(tryAcquireRootOwner(root)).rejects.toMatchObject({
      code: 'root_name_taken',
      message: expect.stringContaining(`ss -xlp | grep ${visible}`),
    })
    await new Promise(resolve => squatter.close(resolve))
    const owner = await own(root)
    owner.prove()
  },
)

test.runIf(isLinux)('R3 who connects to the name is turned away and does no harm', async () => {
  const root = await resolveRoot({ path: testTempDir() })
  const owner = await own(root)
  const closed = await Promise.all(
    Array.from(
      { length: 8 },
      () =>
        new Promise(resolve => {
          const socket = connect({ path: ownerName(root.rootId) as string })
          socket.on('error', () => {})
          socket.once('close', () => resolve('closed'))
        }),
    ),
  )
  expect(closed).toEqual(Array.from({ length: 8 }, () => 'closed'))
  owner.prove()
})

test('R3 a missing or unreadable lock directory is made again, LOCK itself is kept', async () => {
  const root = await resolveRoot({ path: testTempDir() })
  await (await own(root)).close()
  const lock = join(root.path, 'lock')
  rmSync(lock, { recursive: true })
  await (await own(root)).close()
  const { ino } = statSync(join(lock, 'LOCK'))
  for (const name of listNames(lock)) if (name.startsWith('MANIFEST')) rmSync(join(lock, name))
  await (await own(root)).close()
  writeFileSync(join(lock, 'CURRENT'), '')
  const owner = await own(root)
  owner.prove()
  expect(statSync(join(lock, 'LOCK')).ino).toBe(ino)
})

test('R3 a lock that cannot be taken for another reason is a fault, not "owned"', async () => {
  const root = await resolveRoot({ path: testTempDir() })
  writeFileSync(join(root.path, 'lock'), 'a file in the way')
  await expect(tryAcquireRootOwner(root)).rejects.toMatchObject({ code: 'storage_fault' })
  rmSync(join(root.path, 'lock'))
  await own(root)
  expect(listNames(root.path)).toContain('lock')
})

test('R2 a root that was swapped between finding and acquiring is refused', async () => {
  const directory = testTempDir()
  const path = join(directory, 'root')
  const root = await resolveRoot({ path })
  renameSync(path, join(directory, 'away'))
  await expect(tryAcquireRootOwner(root)).rejects.toMatchObject({ code: 'not_found' })
  mkdirSync(path)
  await expect(tryAcquireRootOwner(root)).rejects.toMatchObject({ code: 'root_identity_changed' })
  await resolveRoot({ path })
  await expect(tryAcquireRootOwner(root)).rejects.toMatchObject({ code: 'root_identity_changed' })
})

test('R5 an owner whose root directory was replaced, moved away or deleted has lost it and writes no marker', async () => {
  const directory = testTempDir()
  const path = join(directory, 'root')
  const owner = await own(await resolveRoot({ path }))
  owner.prove()
  const lost = expect.objectContaining({ code: 'ownership_lost', detail: { path } })
  renameSync(path, join(directory, 'away'))
  expect(() => owner.prove()).toThrow(lost)
  await resolveRoot({ path })
  const marker = readFileSync(join(path, 'headwater.json'), 'utf8')
  expect(() => owner.prove()).toThrow(lost)
  await expect(owner.markDatabaseCreated()).rejects.toEqual(lost)
  expect(readFileSync(join(path, 'headwater.json'), 'utf8')).toBe(marker)
  rmSync(path, { recursive: true })
  renameSync(join(directory, 'away'), path)
  owner.prove()
})

test('R5 an owner proves itself while its lock file is gone: its name still keeps others out', async () => {
  const root = await resolveRoot({ path: testTempDir() })
  const owner = await own(root)
  rmSync(join(root.path, 'lock', 'LOCK'))
  if (isLinux) owner.prove()
  else expect(() => owner.prove()).toThrow(expect.objectContaining({ code: 'ownership_lost' }))
  expect(await tryAcquireRootOwner(root)).toBeUndefined()
})

test('R10 close: inactive at once, waits for operations in flight, releases last, idempotent', async () => {
  const root = await resolveRoot({ path: testTempDir() })
  const owner = await own(root)
  const order: string[] = []
  let finish = (): void => {}
  const operation = owner.run(async () => {
    await new Promise<void>(resolve => {
      finish = resolve
    })
    owner.prove()
    order.push('operation')
    return 42
  })
  const closing = owner.close()
  expect(owner.closed).toBe(true)
  expect(owner.close()).toBe(closing)
  await expect(owner.run(async () => 'late')).rejects.toMatchObject({ code: 'invalid_lease' })
  await expect(owner.markDatabaseCreated()).rejects.toMatchObject({ code: 'invalid_lease' })
  expect(await tryAcquireRootOwner(root)).toBeUndefined()
  closing.then(() => order.push('released'))
  finish()
  expect(await operation).toBe(42)
  await closing
  await waitFor(() => order.length === 2)
  expect(order).toEqual(['operation', 'released'])
  expect(() => owner.prove()).toThrow(expect.objectContaining({ code: 'invalid_lease' }))
  await own(root)
})

test('R10 an operation that fails does not keep the owner from closing', async () => {
  const root = await resolveRoot({ path: testTempDir() })
  const owner = await own(root)
  const failed = expect(owner.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
  const closing = owner.close()
  await failed
  await closing
  await own(root)
  expect(owner.closed).toBe(true)
})

test('R10 close called while a marker is being written lets it finish', async () => {
  const root = await resolveRoot({ path: testTempDir() })
  const owner = await own(root)
  const marking = owner.markDatabaseCreated()
  await owner.close()
  await marking
  expect((await own(root)).databaseCreated()).toBe(true)
})
