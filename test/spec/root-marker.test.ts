import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createMarker, type Marker, readMarker } from '../../leader/log/root/marker.ts'
import { tryAcquireRootOwner } from '../../leader/log/root/owner.ts'
import { resolveRoot } from '../../leader/log/root/resolve.ts'
import { readRootToken } from '../../leader/log/root/token.ts'
import { LIMITS } from '../../schema/limits.ts'
import { listNames, own } from '../support/root/roots.ts'
import { testTempDir } from '../support/temp-dir.ts'

const MARKER = 'headwater.json'

function modeOf(path: string): number {
  return statSync(path).mode & 0o777
}

test('R1 a missing directory becomes a root: 0700, marked, whole, and the same one when resolved again', async () => {
  const path = join(testTempDir(), 'deep', 'root')
  const first = await resolveRoot({ path })
  expect(first).toEqual({
    path,
    rootId: expect.stringMatching(/^[0-9a-f]{64}$/),
    identity: {
      inode: String(statSync(path, { bigint: true }).ino),
      birthTimeNs: String(statSync(path, { bigint: true }).birthtimeNs),
      device: String(statSync(path).dev),
      bootId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    },
  })
  expect(Object.isFrozen(first)).toBe(true)
  expect(modeOf(path)).toBe(0o700)
  expect(listNames(path)).toEqual([MARKER, 'headwater.token'])
  expect(await readMarker(path)).toEqual({
    format: 1,
    rootId: first.rootId,
    databaseCreated: false,
    port: null,
    directory: first.identity,
  })
  expect(await resolveRoot({ path })).toEqual(first)
  expect(await resolveRoot({ path, create: false })).toEqual(first)
})

test('R1 an empty directory becomes a root and is closed to others', async () => {
  const path = join(testTempDir(), 'open')
  mkdirSync(path, { mode: 0o755 })
  await resolveRoot({ path })
  expect(modeOf(path)).toBe(0o700)
})

test('R1 a non-empty unmarked directory is root_not_empty and stays as it is', async () => {
  const path = testTempDir()
  writeFileSync(join(path, 'thesis.txt'), 'precious')
  await expect(resolveRoot({ path })).rejects.toMatchObject({ code: 'root_not_empty' })
  await expect(resolveRoot({ path, create: false })).rejects.toMatchObject({ code: 'root_not_empty' })
  expect(listNames(path)).toEqual(['thesis.txt'])
})

test('R1 a file in the way is refused', async () => {
  const path = join(testTempDir(), 'file')
  writeFileSync(path, 'x')
  await expect(resolveRoot({ path })).rejects.toMatchObject({ code: 'root_not_empty' })
  await expect(resolveRoot({ path: join(path, 'below') })).rejects.toMatchObject({ code: 'root_not_empty' })
})

test('R1 a place where nothing can be made is a fault with the reason', async () => {
  await expect(resolveRoot({ path: '/proc/headwater-root' })).rejects.toMatchObject({
    code: 'storage_fault',
    detail: { path: '/proc/headwater-root', errno: 'ENOENT' },
  })
})

test('R1 who only looks creates nothing: a missing and an empty directory are not_found', async () => {
  const directory = testTempDir()
  const missing = join(directory, 'missing')
  const empty = join(directory, 'empty')
  mkdirSync(empty)
  await expect(resolveRoot({ path: missing, create: false })).rejects.toMatchObject({ code: 'not_found' })
  await expect(resolveRoot({ path: empty, create: false })).rejects.toMatchObject({ code: 'not_found' })
  expect(listNames(directory)).toEqual(['empty'])
  expect(listNames(empty)).toEqual([])
})

test('R1 what a creation that died left behind does not keep the next one from finishing', async () => {
  const path = testTempDir()
  writeFileSync(join(path, '.headwater-0123456789abcdef.tmp'), '{"format":1,"roo')
  const token = 'A'.repeat(43)
  writeFileSync(join(path, 'headwater.token'), `${token}\n`, { mode: 0o600 })
  await expect(resolveRoot({ path, create: false })).rejects.toMatchObject({ code: 'not_found' })
  const root = await resolveRoot({ path })
  expect(await readRootToken(root)).toBe(token)
  await own(root)
  expect(listNames(path)).toEqual([MARKER, 'headwater.token', 'lock'])
})

test('R1 many that create the same root at once get the same root', async () => {
  const path = join(testTempDir(), 'root')
  const roots = await Promise.all(Array.from({ length: 20 }, () => resolveRoot({ path })))
  expect(new Set(roots.map(root => root.rootId)).size).toBe(1)
  expect(listNames(path)).toEqual([MARKER, 'headwater.token'])
})

test('R1 a root is known by its real path, through whatever link it is reached', async () => {
  const directory = testTempDir()
  const root = await resolveRoot({ path: join(directory, 'root') })
  symlinkSync(join(directory, 'root'), join(directory, 'link'))
  expect(await resolveRoot({ path: join(directory, 'link') })).toEqual(root)
})

test('R2 a copied root is root_identity_changed and names the ways out', async () => {
  const directory = testTempDir()
  const path = join(directory, 'root')
  await resolveRoot({ path })
  cpSync(path, join(directory, 'copy'), { recursive: true, preserveTimestamps: true })
  await expect(resolveRoot({ path: join(directory, 'copy') })).rejects.toMatchObject({
    code: 'root_identity_changed',
    message: expect.stringMatching(/`headwater doctor --adopt`.*`headwater doctor --adopt --as-copy`/),
  })
  await expect(resolveRoot({ path: join(directory, 'copy'), create: false })).rejects.toMatchObject({
    code: 'root_identity_changed',
  })
})

test('R2 a root put back from a copy is root_identity_changed, even if it gets the same inode', async () => {
  const directory = testTempDir()
  const path = join(directory, 'root')
  await resolveRoot({ path })
  cpSync(path, join(directory, 'copy'), { recursive: true })
  rmSync(path, { recursive: true })
  cpSync(join(directory, 'copy'), path, { recursive: true })
  await expect(resolveRoot({ path })).rejects.toMatchObject({ code: 'root_identity_changed' })
})

test('R2 a root moved within its file system is still itself', async () => {
  const directory = testTempDir()
  const before = await resolveRoot({ path: join(directory, 'root') })
  renameSync(join(directory, 'root'), join(directory, 'moved'))
  const after = await resolveRoot({ path: join(directory, 'moved') })
  expect(after).toEqual({ ...before, path: join(directory, 'moved') })
})

test.each([
  ['no birth time', { birthTimeNs: null }, true],
  ['another device after a reboot', { device: '1', bootId: '00000000-0000-0000-0000-000000000000' }, true],
  ['another device without boot ids', { device: '1', bootId: null }, true],
  ['another device in the same boot', { device: '1' }, false],
  ['another birth time', { birthTimeNs: '1' }, false],
  ['another inode', { inode: '1' }, false],
])('R1 a marker with %s is compared by what both have', async (_name, change, isSame) => {
  const path = testTempDir()
  const root = await resolveRoot({ path })
  const marker = (await readMarker(path)) as Marker
  rmSync(join(path, MARKER))
  await createMarker(path, { ...marker, directory: { ...marker.directory, ...change } })
  const again = resolveRoot({ path })
  if (isSame) expect((await again).rootId).toBe(root.rootId)
  else await expect(again).rejects.toMatchObject({ code: 'root_identity_changed' })
})

test('R1 the first owner after a reboot writes the device number of this boot', async () => {
  const path = testTempDir()
  await resolveRoot({ path })
  const marker = (await readMarker(path)) as Marker
  rmSync(join(path, MARKER))
  const old = { ...marker.directory, device: '1', bootId: '00000000-0000-0000-0000-000000000000' }
  await createMarker(path, { ...marker, directory: old })
  await own(await resolveRoot({ path }))
  expect(await readMarker(path)).toEqual(marker)
})

test.each([
  ['empty', () => ''],
  ['torn', (text: string) => text.slice(0, text.length / 2)],
  ['garbage', () => '\u0000\u0001\u0002'],
  [
    'one changed digit',
    (text: string) => text.replace(/"rootId":"./, found => `${found.slice(0, -1)}${found.endsWith('a') ? 'b' : 'a'}`),
  ],
  ['an unknown key', (text: string) => text.replace('{', '{"more":1,')],
  ['too long', (text: string) => text + ' '.repeat(LIMITS.markerBytes)],
])('R7 a marker that is %s is damage: refused, never made again', async (_name, damage) => {
  const path = testTempDir()
  const root = await resolveRoot({ path })
  const bad = damage(readFileSync(join(path, MARKER), 'utf8'))
  writeFileSync(join(path, MARKER), bad)
  const refusal = { code: 'storage_fault', detail: { path: join(path, MARKER), kind: 'marker_damaged' } }
  await expect(resolveRoot({ path })).rejects.toMatchObject(refusal)
  await expect(tryAcquireRootOwner(root)).rejects.toMatchObject(refusal)
  expect(readFileSync(join(path, MARKER), 'utf8')).toBe(bad)
})

test('R7 a root that lost its marker is not made anew', async () => {
  const path = testTempDir()
  const root = await resolveRoot({ path })
  const owner = await own(root)
  mkdirSync(owner.databasePath)
  await owner.markDatabaseCreated()
  rmSync(join(path, MARKER))
  await expect(resolveRoot({ path })).rejects.toMatchObject({ code: 'root_not_empty' })
})

test('R1 M1 a marker of a newer format is refused and says what to do', async () => {
  const path = testTempDir()
  await resolveRoot({ path })
  writeFileSync(join(path, MARKER), JSON.stringify({ format: 99, shape: 'unknown' }))
  await expect(resolveRoot({ path })).rejects.toMatchObject({
    code: 'incompatible',
    message: expect.stringContaining('upgrade headwater'),
  })
})

test('R7 databaseCreated is kept over tenures', async () => {
  const root = await resolveRoot({ path: testTempDir() })
  const first = await own(root)
  expect(first.databaseCreated()).toBe(false)
  await first.markDatabaseCreated()
  expect(first.databaseCreated()).toBe(true)
  await first.close()
  const second = await own(root)
  expect(second.databaseCreated()).toBe(true)
})

test('W1 the port is chosen free from 20000 to 29999, stored, the same in every tenure, and can be changed', async () => {
  const root = await resolveRoot({ path: testTempDir() })
  const first = await own(root)
  const ports = await Promise.all([first.port(), first.port(), first.markDatabaseCreated().then(() => first.port())])
  const [port] = ports
  expect(new Set(ports).size).toBe(1)
  expect(port).toBeGreaterThanOrEqual(20_000)
  expect(port).toBeLessThanOrEqual(29_999)
  await first.close()
  const second = await own(root)
  expect(await second.port()).toBe(port)
  await second.changePort(4_321)
  await expect(second.changePort(65_536)).rejects.toThrow()
  await second.close()
  const third = await own(root)
  expect(await third.port()).toBe(4_321)
  expect(third.databaseCreated()).toBe(true)
})

test('W1 a busy port is not chosen', async () => {
  const root = await resolveRoot({ path: testTempDir() })
  const wanted = 20_000 + (Number.parseInt(root.rootId.slice(0, 8), 16) % 10_000)
  const server = createServer()
  await new Promise<void>(resolve => {
    server.once('error', () => resolve()) // somebody else has it: just as busy
    server.listen(wanted, '127.0.0.1', resolve)
  })
  const owner = await own(root)
  expect(await owner.port()).not.toBe(wanted)
  server.close()
})

test('Z2 the root token is 256 bits in a 0600 file, another one for every root', async () => {
  const directory = testTempDir()
  const tokens = []
  for (const name of ['a', 'b']) {
    const root = await resolveRoot({ path: join(directory, name) })
    expect(modeOf(join(root.path, 'headwater.token'))).toBe(0o600)
    tokens.push(await readRootToken(root))
  }
  expect(tokens.map(token => Buffer.from(token, 'base64url').length)).toEqual([32, 32])
  expect(tokens[0]).not.toBe(tokens[1])
})

test.each([
  ['missing', (path: string) => rmSync(path)],
  ['damaged', (path: string) => writeFileSync(path, 'short')],
])('Z2 a %s root token is a fault, not a new token', async (what, damage) => {
  const root = await resolveRoot({ path: testTempDir() })
  damage(join(root.path, 'headwater.token'))
  await expect(readRootToken(await resolveRoot({ path: root.path }))).rejects.toMatchObject({
    code: 'storage_fault',
    detail: { kind: `token_${what}` },
  })
})
