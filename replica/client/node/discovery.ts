import { open } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import envPaths from 'env-paths'
import { LIMITS } from '../../../schema/limits.ts'
import { MARKER_FILE, type Places, REGISTRATION_FILE, resolvePlaces, rootFolder } from '../../../schema/places.ts'
import { decodeRegistration, type Registration } from '../../../schema/wire/registration.ts'

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

/** What leaders of this root wrote down, newest first: hints, each of which may be stale. Source: R8. */
export async function readRegistrations(places: Places, rootId: string): Promise<readonly Registration[]> {
  const found: Registration[] = []
  for (const folder of places.runtimeCandidates) {
    const text = await readSmallFile(join(folder, rootFolder(rootId), REGISTRATION_FILE), LIMITS.registrationBytes)
    const registration = text === undefined ? undefined : decodeRegistration(text)
    if (registration?.rootId === rootId) found.push(registration)
  }
  return found.sort((a, b) => b.createdAt - a.createdAt)
}
