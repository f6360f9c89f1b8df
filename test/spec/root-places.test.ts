import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readRegistration, removeRegistration, writeRegistration } from '../../leader/log/root/endpoint/registration.ts'
import { clearSocket, socketPlace } from '../../leader/log/root/endpoint/socket-place.ts'
import { readPlaces } from '../../leader/log/root/places.ts'
import { resolveRoot } from '../../leader/log/root/resolve.ts'
import { LIMITS } from '../../schema/limits.ts'
import { type PlaceFacts, type Places, resolvePlaces } from '../../schema/places.ts'
import { decodeRegistration, encodeRegistration, type Registration } from '../../schema/wire/registration.ts'
import { isolatedEnvironment, useEnvironment } from '../support/environment.ts'
import { listNames, own } from '../support/root/roots.ts'
import { testTempDir } from '../support/temp-dir.ts'

const ROOT_ID = '0123456789abcdef'.repeat(4)
const FOLDER = '0123456789abcdef'

const LINUX: PlaceFacts = {
  env: {},
  platform: 'linux',
  home: '/h/ada',
  tmp: '/tmp',
  uid: 1000,
  habit: {
    data: '/h/ada/.local/share/headwater',
    config: '/h/ada/.config/headwater',
    cache: '/h/ada/.cache/headwater',
    log: '/h/ada/.local/state/headwater',
  },
}

const REGISTRATION: Registration = {
  rootId: ROOT_ID,
  hostEpoch: '6c8d5c9e-7c0f-4b61-9a3b-0d2f4c1b7a55',
  url: 'http://127.0.0.1:20001',
  socketPath: '/run/user/1000/headwater/0123456789abcdef/leader.sock',
  pid: 4711,
  protocol: { min: 1, max: 1 },
  state: 'ready',
  createdAt: 1_700_000_000_000,
}

test('R8 places on Linux without XDG variables follow the platform', () => {
  expect(resolvePlaces(LINUX)).toEqual({
    root: '/h/ada/.local/share/headwater/root',
    data: '/h/ada/.local/share/headwater',
    config: '/h/ada/.config/headwater',
    configFile: '/h/ada/.config/headwater/config.jsonc',
    cache: '/h/ada/.cache/headwater',
    state: '/h/ada/.local/state/headwater',
    logs: '/h/ada/.local/state/headwater',
    runtime: '/h/ada/.local/state/headwater',
    runtimeCandidates: ['/h/ada/.local/state/headwater'],
    socketFallbacks: ['/tmp/headwater-1000'],
  })
})

const XDG = {
  XDG_DATA_HOME: '/x/data',
  XDG_CONFIG_HOME: '/x/config/',
  XDG_CACHE_HOME: '/x/cache',
  XDG_STATE_HOME: '/x/state',
  XDG_RUNTIME_DIR: '/x/run',
}
const MAC_HABIT = {
  data: '/u/ada/Library/Application Support/headwater',
  config: '/u/ada/Library/Preferences/headwater',
  cache: '/u/ada/Library/Caches/headwater',
  log: '/u/ada/Library/Logs/headwater',
}

test.each(['linux', 'darwin'])('R8 XDG variables count on %s when set', platform => {
  const habit = platform === 'darwin' ? MAC_HABIT : LINUX.habit
  expect(resolvePlaces({ ...LINUX, platform, habit, env: { ...XDG, HEADWATER_ROOT: '/r' }, tmp: '/var/tmp/' })).toEqual(
    {
      root: '/r',
      data: '/x/data/headwater',
      config: '/x/config/headwater',
      configFile: '/x/config/headwater/config.jsonc',
      cache: '/x/cache/headwater',
      state: '/x/state/headwater',
      logs: '/x/state/headwater',
      runtime: '/x/run/headwater',
      runtimeCandidates: ['/x/run/headwater', '/x/state/headwater'],
      socketFallbacks: ['/var/tmp/headwater-1000', '/tmp/headwater-1000'],
    },
  )
})

test('R8 relative XDG variables are invalid and ignored, also where the habit took them over', () => {
  const habit = { ...LINUX.habit, data: 'rel/headwater' }
  const places = resolvePlaces({ ...LINUX, habit, env: { XDG_DATA_HOME: 'rel', XDG_RUNTIME_DIR: '' } })
  expect(places).toEqual(resolvePlaces(LINUX))
})

test('R8 places on macOS and Windows follow the platform', () => {
  const mac = resolvePlaces({ ...LINUX, platform: 'darwin', home: '/u/ada', uid: 501, habit: MAC_HABIT })
  expect(mac).toMatchObject({
    root: '/u/ada/Library/Application Support/headwater/root',
    logs: '/u/ada/Library/Logs/headwater',
    runtime: '/u/ada/Library/Application Support/headwater/state',
    socketFallbacks: ['/tmp/headwater-501'],
  })
  const windows = resolvePlaces({
    ...LINUX,
    platform: 'win32',
    home: 'C:\\u\\ada',
    tmp: 'C:\\Temp',
    uid: undefined,
    habit: {
      data: 'C:\\u\\ada\\AppData\\Local\\headwater\\Data',
      config: 'C:\\u\\ada\\AppData\\Roaming\\headwater\\Config',
      cache: 'C:\\u\\ada\\AppData\\Local\\headwater\\Cache',
      log: 'C:\\u\\ada\\AppData\\Local\\headwater\\Log',
    },
  })
  expect(windows).toMatchObject({
    root: 'C:\\u\\ada\\AppData\\Local\\headwater\\Data\\root',
    runtime: 'C:\\u\\ada\\AppData\\Local\\headwater\\Data\\state',
    configFile: 'C:\\u\\ada\\AppData\\Roaming\\headwater\\Config\\config.jsonc',
    socketFallbacks: [],
  })
})

test('R8 this process has the places of its environment', () => {
  const directory = testTempDir()
  const restore = useEnvironment(isolatedEnvironment(directory))
  try {
    expect(readPlaces()).toMatchObject({
      data: join(directory, 'data', 'headwater'),
      runtime: join(directory, 'run', 'headwater'),
      configFile: join(directory, 'config', 'headwater', 'config.jsonc'),
    })
  } finally {
    restore()
  }
})

function placesIn(runtime: string, more: Partial<Places> = {}): Places {
  return { ...resolvePlaces(LINUX), runtime, runtimeCandidates: [runtime], socketFallbacks: [], ...more }
}

/** A folder under `directory` whose socket path is too long. */
function longRuntime(directory: string): string {
  return join(directory, 'x'.repeat(LIMITS.socketPathBytes - directory.length))
}

function modeOf(path: string): number {
  return statSync(path).mode & 0o777
}

test('R3 the socket and the registration are in a private folder of the root', async () => {
  const runtime = join(testTempDir(), 'run', 'headwater')
  mkdirSync(runtime, { recursive: true, mode: 0o755 })
  const directory = join(runtime, FOLDER)
  expect(await socketPlace(ROOT_ID, placesIn(runtime))).toEqual({
    directory,
    registrationPath: join(directory, 'leader.json'),
    socketPath: join(directory, 'leader.sock'),
  })
  expect([modeOf(runtime), modeOf(directory)]).toEqual([0o700, 0o700])
})

test('R8 a runtime folder that cannot be used gives way to the state folder', async () => {
  const directory = testTempDir()
  writeFileSync(join(directory, 'file'), '')
  const [run, state] = [join(directory, 'file', 'headwater'), join(directory, 'state')]
  const place = await socketPlace(ROOT_ID, placesIn(run, { runtimeCandidates: [run, state] }))
  expect(place.directory).toBe(join(state, FOLDER))
  await expect(socketPlace(ROOT_ID, placesIn(run))).rejects.toMatchObject({ code: 'storage_fault' })
})

test('R3 a socket path of 100 bytes is used, one of 101 falls back to a per-user folder', async () => {
  const directory = testTempDir()
  const tail = `/${FOLDER}/leader.sock`.length
  const fits = join(directory, 'y'.repeat(LIMITS.socketPathBytes - tail - directory.length - 1))
  const fallback = join(directory, 'f')
  expect(Buffer.byteLength((await socketPlace(ROOT_ID, placesIn(fits))).socketPath)).toBe(LIMITS.socketPathBytes)
  const place = await socketPlace(ROOT_ID, placesIn(`${fits}y`, { socketFallbacks: [fallback] }))
  expect(place).toEqual({
    directory: join(`${fits}y`, FOLDER),
    registrationPath: join(`${fits}y`, FOLDER, 'leader.json'),
    socketPath: join(fallback, FOLDER, 'leader.sock'),
  })
  expect([modeOf(fallback), modeOf(join(fallback, FOLDER))]).toEqual([0o700, 0o700])
})

test.each([
  [
    'a link',
    (path: string, directory: string) => {
      mkdirSync(join(directory, 'real'), { mode: 0o700 })
      symlinkSync(join(directory, 'real'), path)
    },
  ],
  [
    'open to others',
    (path: string) => {
      mkdirSync(path)
      chmodSync(path, 0o755)
    },
  ],
  ['a file', (path: string) => writeFileSync(path, '')],
  [
    'private, but with a link in the place of the root folder',
    (path: string, directory: string) => {
      mkdirSync(path, { mode: 0o700 })
      symlinkSync(directory, join(path, FOLDER))
    },
  ],
  ['missing and not to be made', () => {}],
])('R3 a fallback that is %s is path_too_long', async (name, prepare) => {
  const directory = testTempDir()
  const fallback = name.startsWith('missing') ? join(directory, 'no', 'f') : join(directory, 'f')
  prepare(fallback, directory)
  const places = placesIn(longRuntime(directory), { socketFallbacks: [fallback] })
  await expect(socketPlace(ROOT_ID, places)).rejects.toMatchObject({ code: 'path_too_long' })
})

test.runIf(process.getuid?.() === 0)('R3 a fallback that belongs to somebody else is path_too_long', async () => {
  const { chownSync } = await import('node:fs')
  const directory = testTempDir()
  const fallback = join(directory, 'f')
  mkdirSync(fallback, { mode: 0o700 })
  chownSync(fallback, 12_345, 12_345)
  const places = placesIn(longRuntime(directory), { socketFallbacks: [fallback] })
  await expect(socketPlace(ROOT_ID, places)).rejects.toMatchObject({ code: 'path_too_long' })
})

test('R3 only an owner replaces an endpoint socket', async () => {
  const directory = testTempDir()
  const owner = await own(await resolveRoot({ path: join(directory, 'root') }))
  const { socketPath } = await socketPlace(ROOT_ID, placesIn(join(directory, 'run')))
  writeFileSync(socketPath, 'left by a dead leader')
  await clearSocket(owner, socketPath)
  expect(existsSync(socketPath)).toBe(false)
  const server = createServer()
  await new Promise<void>(resolve => server.listen(socketPath, resolve))
  await owner.close()
  await expect(clearSocket(owner, socketPath)).rejects.toMatchObject({ code: 'invalid_lease' })
  expect(existsSync(socketPath)).toBe(true)
  await new Promise(resolve => server.close(resolve))
})

test('R8 the registration is written whole, 0600, over whatever is there, and only its own epoch removes it', async () => {
  const directory = testTempDir()
  const path = join(directory, 'leader.json')
  writeFileSync(path, '{"torn', { mode: 0o644 })
  expect(await readRegistration(path)).toBeUndefined()
  expect(await removeRegistration(path, REGISTRATION.hostEpoch)).toBe(false)
  await writeRegistration(path, REGISTRATION)
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(REGISTRATION)
  expect([modeOf(path), listNames(directory)]).toEqual([0o600, ['leader.json']])
  const successor = { ...REGISTRATION, hostEpoch: 'another-epoch', url: null, state: 'starting' as const }
  await writeRegistration(path, successor)
  expect(await removeRegistration(path, REGISTRATION.hostEpoch)).toBe(false)
  expect(await readRegistration(path)).toEqual(successor)
  expect(await removeRegistration(path, 'another-epoch')).toBe(true)
  expect(listNames(directory)).toEqual([])
  expect(await removeRegistration(path, 'another-epoch')).toBe(false)
})

test('R8 a registration of a newer leader is read, anything else is none', () => {
  expect(decodeRegistration(encodeRegistration(REGISTRATION))).toEqual(REGISTRATION)
  expect(decodeRegistration(JSON.stringify({ ...REGISTRATION, more: true }))).toEqual(REGISTRATION)
  const bad = [
    '',
    'null',
    '[]',
    '{}',
    encodeRegistration(REGISTRATION).slice(0, 100),
    JSON.stringify({ ...REGISTRATION, pid: 'x' }),
    JSON.stringify({ ...REGISTRATION, rootId: 'abc' }),
    JSON.stringify({ ...REGISTRATION, more: 'x'.repeat(LIMITS.registrationBytes) }),
  ]
  expect(bad.map(decodeRegistration)).toEqual(bad.map(() => undefined))
  expect(() => encodeRegistration({ ...REGISTRATION, rootId: '' })).toThrow()
})
