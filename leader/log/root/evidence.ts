import { createHash, randomBytes } from 'node:crypto'
import { opendir, rm, stat, writeFile } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ClassicLevel } from 'classic-level'
import { HeadwaterError } from '../../../schema/errors.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { errnoOf } from './atomic-file.ts'
import { type ClaimPurpose, claimRoot, unclaimRoot } from './claims.ts'
import { type Marker, ROOT_NAMES } from './marker.ts'
import { confirmRoot, type RootCapability } from './resolve.ts'

const RESERVE = 'reserve'
const LOCK_TABLE = /^(?:CURRENT|MANIFEST-\d+|LOG(?:\.old)?|\d+\.(?:log|ldb|sst|dbtmp))$/

/**
 * What proves that this process and no other has a root. The operating system takes both back when the process dies.
 *
 *   free ── lock ──▶ (1) LOCK of <root>/lock ── bind ──▶ (2) the root's name ──▶ held
 *             └ held by another: undefined          └ held by another: root_name_taken
 */
export interface Evidence {
  /** The marker as it was when the lock was there: nobody else changes it from then on. */
  readonly marker: Marker
  /** False once a handle was closed, by whomever. */
  readonly isBound: boolean
  /** True if there is a bound name beside the lock. */
  readonly isNamed: boolean
  /** Gives the name back, then the lock. */
  close(): Promise<void>
}

/**
 * Takes a root's evidence; undefined if another process, or this one, has it. The lock may be held for a moment by a reader that makes
 * its view or by a candidate that is about to lose, so a held lock is tried again for a while, unless its owner shows itself.
 * Errors: `root_name_taken`, and those of `confirmRoot`. Source: R3, R9.
 */
export async function takeEvidence(capability: RootCapability, purpose: ClaimPurpose): Promise<Evidence | undefined> {
  await confirmRoot(capability)
  const lock = await takeLock(capability, purpose)
  if (lock === undefined) return undefined
  let name: Server | undefined
  const close = async (): Promise<void> => {
    try {
      if (name?.listening === true) await closeServer(name)
      await lock.close()
    } finally {
      unclaimRoot(capability)
    }
  }
  try {
    const marker = await confirmRoot(capability)
    name = await takeName(capability, purpose)
    return {
      marker,
      get isBound() {
        return lock.status === 'open' && (name === undefined || name.listening)
      },
      isNamed: name !== undefined,
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/**
 * Opens a directory's own LevelDB, whose LOCK is what counts; undefined if another process has it. Nothing is ever written to it, so one
 * that cannot be read is made anew: only who had the LOCK gets as far as reading. Source: R3.
 */
export async function openLock(directory: string): Promise<ClassicLevel | undefined> {
  for (let attempt = 0; ; attempt++) {
    const lock = new ClassicLevel(directory, { compression: false, cacheSize: 0, writeBufferSize: 64 * 1024 })
    try {
      await lock.open()
      return lock
    } catch (error) {
      await lock.close().catch(() => {})
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : (error as Error)
      if (isHeldElsewhere(cause)) return undefined
      if (attempt > 0) throw lockFault(directory, cause)
      if (isNoSpace(cause)) await rm(join(directory, RESERVE), { force: true })
      await clearLockTables(directory)
    }
  }
}

/**
 * The root's name: on Linux an abstract socket of exactly NUL + 107 characters, because Node versions pad other lengths differently; on
 * Windows a named pipe; elsewhere none. Source: R3, H14.
 */
export function ownerName(rootId: string, platform: string = process.platform): string | undefined {
  const name = visibleName(rootId)
  if (platform === 'linux') return `\0${name.padEnd(107, '-')}`
  return platform === 'win32' ? `\\\\.\\pipe\\${name}` : undefined
}

function visibleName(rootId: string): string {
  return `headwater-root-${createHash('sha256').update(`headwater root owner\n${rootId}`).digest('hex')}`
}

async function takeLock(capability: RootCapability, purpose: ClaimPurpose): Promise<ClassicLevel | undefined> {
  const end = performance.now() + LIMITS.lockRetryMs
  const name = ownerName(capability.rootId)
  do {
    const held = claimRoot(capability, purpose)
    if (held === 'owner') return undefined
    if (held === undefined) {
      const lock = await openClaimed(capability)
      if (lock !== undefined) return lock
      if (name !== undefined && (await isNameBound(name))) return undefined
    }
    await delay(LIMITS.lockRetryStepMs)
  } while (performance.now() < end)
  return undefined
}

async function openClaimed(capability: RootCapability): Promise<ClassicLevel | undefined> {
  let lock: ClassicLevel | undefined
  try {
    lock = await openLock(join(capability.path, ROOT_NAMES.lock))
    return lock
  } finally {
    if (lock === undefined) unclaimRoot(capability)
  }
}

/** An owner binds the name; a reader only sees that nobody has. A dying owner's name may outlive its lock for a moment. */
async function takeName(capability: RootCapability, purpose: ClaimPurpose): Promise<Server | undefined> {
  const name = ownerName(capability.rootId)
  if (name === undefined) return undefined
  const end = performance.now() + LIMITS.nameRetryMs
  do {
    if (purpose === 'owner') {
      const server = await bindName(name)
      if (server !== undefined) return server
    } else if (!(await isNameBound(name))) return undefined
    await delay(LIMITS.lockRetryStepMs)
  } while (performance.now() < end)
  const visible = visibleName(capability.rootId)
  const find = process.platform === 'win32' ? `look for the pipe ${visible}` : `\`ss -xlp | grep ${visible}\``
  throw new HeadwaterError(
    'root_name_taken',
    `The lock of the data root ${capability.path} is free, but another process holds the root's name, so a leader may still be at work ` +
      `(its lock file was removed, or this is a second copy of the root). Find the holder with ${find} and end it.`,
    { path: capability.path, name: visible },
  )
}

/** Undefined if the name is taken. The server serves nobody and does not keep the process alive. */
function bindName(name: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer(socket => {
      socket.on('error', () => {})
      socket.destroy()
    })
    server.once('error', error => {
      if (errnoOf(error) === 'EADDRINUSE') resolve(undefined)
      else reject(error)
    })
    // exclusive: a cluster worker must not get its primary's handle
    server.listen({ path: name, exclusive: true, backlog: 16 }, () => {
      server.on('error', () => {}) // a failed accept is the caller's trouble
      resolve(server.unref())
    })
  })
}

/** True while a living process has the name. */
export function isNameBound(name: string): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect({ path: name })
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', error => resolve(errnoOf(error) !== 'ECONNREFUSED' && errnoOf(error) !== 'ENOENT'))
  })
}

function closeServer(server: Server): Promise<void> {
  return new Promise(resolve => server.close(() => resolve()))
}

/** LevelDB reports every failure to lock under one code; only these mean that the file system cannot lock at all. */
function isHeldElsewhere(error: Error): boolean {
  return errnoOf(error) === 'LEVEL_LOCKED' && !/No locks available|not supported|not implemented/i.test(error.message)
}

function isNoSpace(error: Error): boolean {
  return /No space left|quota exceeded/i.test(error.message)
}

/**
 * Keeps some space for the next owner: opening the lock writes a little, and a leader must be able to start on a full disk, where it is
 * needed most. Gives up silently when there is no space now. Source: E8.
 */
export async function keepReserve(directory: string): Promise<void> {
  const path = join(directory, RESERVE)
  const size = (await stat(path).catch(() => undefined))?.size
  if (size === LIMITS.lockReserveBytes) return
  await writeFile(path, randomBytes(LIMITS.lockReserveBytes), { mode: 0o600 }).catch(() => rm(path, { force: true }))
}

/** Everything of the tiny database but LOCK, which is never removed. */
async function clearLockTables(directory: string): Promise<void> {
  try {
    for await (const entry of await opendir(directory)) {
      if (LOCK_TABLE.test(entry.name)) await rm(join(directory, entry.name), { force: true })
    }
  } catch {
    // the second attempt to open says what is wrong
  }
}

function lockFault(directory: string, cause: Error): HeadwaterError {
  const code = isNoSpace(cause) ? 'storage_full' : 'storage_fault'
  return new HeadwaterError(code, `The lock of the data root cannot be taken (${directory}): ${cause.message}`, {
    path: directory,
  })
}
