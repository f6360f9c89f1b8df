import { rm } from 'node:fs/promises'
import { LIMITS } from '../../../../schema/limits.ts'
import { decodeRegistration, encodeRegistration, type Registration } from '../../../../schema/wire/registration.ts'
import { replaceFile } from '../atomic-file.ts'
import { readBounded } from '../marker.ts'

/** Writes the registration, 0600, whole or not at all, over whatever is there. Only for the root's owner. Source: R8. */
export function writeRegistration(path: string, registration: Registration): Promise<void> {
  return replaceFile(path, encodeRegistration(registration), 0o600)
}

/** The registration of a file; undefined if there is none that can be read. Source: R8. */
export async function readRegistration(path: string): Promise<Registration | undefined> {
  const text = await readBounded(path, LIMITS.registrationBytes)
  return text === undefined ? undefined : decodeRegistration(text)
}

/**
 * Removes the registration if this epoch wrote it, and says whether it did. To be called before ownership is released: until then
 * nobody else writes. Source: R8.
 */
export async function removeRegistration(path: string, hostEpoch: string): Promise<boolean> {
  const registration = await readRegistration(path)
  if (registration?.hostEpoch !== hostEpoch) return false
  await rm(path, { force: true })
  return true
}
