import { open, stat } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import envPaths from 'env-paths'
import { LIMITS } from '../../../schema/limits.ts'
import { MARKER_FILE, type Places, REGISTRATION_FILE, resolvePlaces, rootFolder } from '../../../schema/places.ts'
import { decodeRegistration, isOfDirectory, type Registration } from '../../../schema/wire/registration.ts'

/** The places of this process's user under these variables. Source: interfaces 5. */
export function placesOf(env: Readonly<Record<string, string | undefined>>): Places {
  return resolvePlaces({
    env,
    platform: process.platform,
    home: homedir(),
    tmp: tmpdir(),
    uid: process.getuid?.(),
    habit: envPaths('headwater', { suffix: '' }),
  })
}

/** The text of a small file; undefined where it is missing, unreadable or longer than `maxBytes`. */
export async function readSmallFile(path: string, maxBytes: number): Promise<string | undefined> {
  try {
    const file = await open(path, 'r')
    try {
      const buffer = Buffer.alloc(maxBytes + 1)
      const { bytesRead } = await file.read(buffer, 0, maxBytes + 1, 0)
      return bytesRead > maxBytes ? undefined : buffer.toString('utf8', 0, bytesRead)
    } finally {
      await file.close()
    }
  } catch {
    return undefined
  }
}

/** The id of a root, from its marker; undefined for a directory that is none yet, or cannot be read. Source: R1. */
export async function readRootId(root: string): Promise<string | undefined> {
  const text = await readSmallFile(join(root, MARKER_FILE), LIMITS.markerBytes)
  if (text === undefined) return undefined
  try {
    const { rootId } = (JSON.parse(text) ?? {}) as { rootId?: unknown }
    return typeof rootId === 'string' && /^[0-9a-f]{64}$/.test(rootId) ? rootId : undefined
  } catch {
    return undefined
  }
}

/** What leaders of roots of this id wrote down, newest first: hints, each of which may be stale, or of a copy elsewhere. Source: R8. */
export async function readRegistrations(places: Places, rootId: string): Promise<readonly Registration[]> {
  const found: Registration[] = []
  for (const folder of places.runtimeCandidates) {
    const text = await readSmallFile(join(folder, rootFolder(rootId), REGISTRATION_FILE), LIMITS.registrationBytes)
    const registration = text === undefined ? undefined : decodeRegistration(text)
    if (registration?.rootId === rootId) found.push(registration)
  }
  return found.sort((a, b) => b.createdAt - a.createdAt)
}

/** The registrations of a root, told apart from those of another directory that has its id: a copy, a restored backup. */
export interface FoundRegistrations {
  readonly here: readonly Registration[]
  readonly elsewhere: readonly Registration[]
}

/** What leaders of this very directory wrote down, and what those of a copy of it did. Source: R2, R8. */
export async function findRegistrations(places: Places, root: string): Promise<FoundRegistrations> {
  const rootId = await readRootId(root)
  const found = rootId === undefined ? [] : await readRegistrations(places, rootId)
  const stats = await stat(root, { bigint: true }).catch(() => undefined)
  if (stats === undefined) return { here: found, elsewhere: [] }
  const { ino, birthtimeNs } = stats
  const directory = { inode: ino.toString(), birthTimeNs: birthtimeNs > 0n ? birthtimeNs.toString() : null }
  return {
    here: found.filter(registration => isOfDirectory(registration, directory)),
    elsewhere: found.filter(registration => !isOfDirectory(registration, directory)),
  }
}
