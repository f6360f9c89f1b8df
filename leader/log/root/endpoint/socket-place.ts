import { chmod, lstat, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { HeadwaterError } from '../../../../schema/errors.ts'
import { LIMITS } from '../../../../schema/limits.ts'
import { type Places, REGISTRATION_FILE, rootFolder, SOCKET_FILE } from '../../../../schema/places.ts'
import { makeDirectories } from '../atomic-file.ts'
import type { RootOwner } from '../owner.ts'

/** Where a root's leader is found: its private folder, the registration in it, and the Unix socket (or named pipe). */
export interface SocketPlace {
  readonly directory: string
  readonly registrationPath: string
  readonly socketPath: string
}

/**
 * Makes the folders for a root's endpoint, private to this user: `<runtime>/<16 hex>/leader.sock`, or, where that is over 100 bytes, the
 * same folder in a per-user one under the temporary directory. Longer paths would be cut silently.
 * Errors: `path_too_long`; `storage_fault` if no runtime folder can be used. Source: R3, R8.
 */
export async function socketPlace(rootId: string, places: Places): Promise<SocketPlace> {
  const folder = rootFolder(rootId)
  const directory = await runtimeDirectory(folder, places)
  const registrationPath = join(directory, REGISTRATION_FILE)
  if (process.platform === 'win32') {
    return { directory, registrationPath, socketPath: `\\\\.\\pipe\\headwater-${folder}` }
  }
  const socketPath = join(directory, SOCKET_FILE)
  if (isShort(socketPath)) return { directory, registrationPath, socketPath }
  for (const fallback of places.socketFallbacks) {
    const path = join(fallback, folder, SOCKET_FILE)
    if (isShort(path) && (await isMadePrivate(fallback, folder)))
      return { directory, registrationPath, socketPath: path }
  }
  throw new HeadwaterError(
    'path_too_long',
    `The socket path ${socketPath} is over ${LIMITS.socketPathBytes} bytes, and none of the folders that could be used instead ` +
      `(${places.socketFallbacks.join(', ')}) is short, ours and closed to others; set XDG_RUNTIME_DIR to a shorter one.`,
    { path: socketPath, bytes: Buffer.byteLength(socketPath) },
  )
}

/**
 * Removes what a former leader left at the socket's path. Only the holder of the root's lock may, hence the owner.
 * Errors: `invalid_lease`, `ownership_lost`. Source: R3.
 */
export async function clearSocket(owner: RootOwner, socketPath: string): Promise<void> {
  if (process.platform === 'win32') return // a pipe goes with its process
  await owner.run(async () => {
    owner.prove()
    await rm(socketPath, { force: true })
  })
}

async function runtimeDirectory(folder: string, places: Places): Promise<string> {
  const failures: string[] = []
  for (const runtime of places.runtimeCandidates) {
    try {
      await makePrivate(runtime)
      return await makePrivate(join(runtime, folder))
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error))
    }
  }
  throw new HeadwaterError('storage_fault', `There is no usable runtime folder: ${failures.join('; ')}`, {
    paths: places.runtimeCandidates,
  })
}

/** The directory, ours and mode 0700. */
async function makePrivate(path: string): Promise<string> {
  await makeDirectories(path)
  const stats = await lstat(path)
  if (!stats.isDirectory()) throw new Error(`${path} is no directory of its own`)
  if (process.getuid === undefined) return path
  if (stats.uid !== process.getuid()) throw new Error(`${path} belongs to somebody else`)
  if ((stats.mode & 0o077) !== 0) await chmod(path, 0o700)
  return path
}

/** Where everybody may make names, what is there already must be private: who could write to it may have prepared it. */
async function isMadePrivate(parent: string, folder: string): Promise<boolean> {
  try {
    for (const path of [parent, join(parent, folder)]) {
      await mkdir(path, { mode: 0o700 }).catch(() => {})
      if (!(await isPrivate(path))) return false
    }
    return true
  } catch {
    return false
  }
}

/** True for a directory that is no link, ours, and closed to everybody else. */
async function isPrivate(path: string): Promise<boolean> {
  const stats = await lstat(path)
  return stats.isDirectory() && stats.uid === process.getuid?.() && (stats.mode & 0o077) === 0
}

function isShort(path: string): boolean {
  return Buffer.byteLength(path) <= LIMITS.socketPathBytes
}
