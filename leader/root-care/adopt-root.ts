import { randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { HeadwaterError, isHeadwaterError } from '../../schema/errors.ts'
import { isNameBound, openLock, ownerName } from '../log/root/evidence.ts'
import { directoryIdentity, isSameDirectory } from '../log/root/identity.ts'
import { type Marker, ROOT_NAMES, readMarker, readMarkerCopy, replaceMarker } from '../log/root/marker.ts'
import { replaceRootToken } from '../log/root/token.ts'

/** How a directory became a root again. */
export interface Adopted {
  readonly path: string
  readonly rootId: string
  readonly formerRootId: string
}

/**
 * Makes a directory that was moved, put back or copied a root again: its marker gets the identity the directory has now, and the next open
 * begins a new lineage. `asCopy` also gives it a rootId, a token and a port of its own, so that it can stand beside the original.
 *
 * A marker that is gone or damaged is made anew from its copy. Errors: `operation_conflict` (it is the directory that was marked), `root_owned`
 * (a leader is at work on it), `root_name_taken` (the original is in use: two roots of one id may not be), `not_found` (no marker). Source: R2.
 */
export async function adoptRoot(options: { readonly path: string; readonly asCopy?: boolean }): Promise<Adopted> {
  const path = await realpath(resolve(options.path)).catch(() => resolve(options.path))
  await markerToAdopt(path)
  const lock = await openLock(join(path, ROOT_NAMES.lock))
  if (lock === undefined) throw new HeadwaterError('root_owned', `A leader is at work on ${path}.`, { path })
  try {
    const marker = await markerToAdopt(path)
    if (options.asCopy !== true) await assertUnused(path, marker)
    else await replaceRootToken(path)
    const rootId = options.asCopy === true ? randomBytes(32).toString('hex') : marker.rootId
    await replaceMarker(path, {
      ...marker,
      rootId,
      port: options.asCopy === true ? null : marker.port,
      pending: options.asCopy === true || marker.pending === 'copied' ? 'copied' : 'adopted',
      directory: directoryIdentity(statSync(path, { bigint: true })),
    })
    return { path, rootId, formerRootId: marker.rootId }
  } finally {
    await lock.close()
  }
}

/** What the directory is to be: by its marker, or by the copy of one that is gone or damaged. */
async function markerToAdopt(path: string): Promise<Marker> {
  try {
    const marker = await readMarker(path)
    if (marker !== undefined) {
      assertForeign(path, marker)
      return marker
    }
  } catch (error) {
    const isGone = isHeadwaterError(error) ? error.detail?.kind === 'marker_damaged' : isNoPlace(error)
    if (!isGone) throw error
    const copy = await readMarkerCopy(path)
    if (copy !== undefined) return copy
    if (isHeadwaterError(error)) throw beyondMending(path, error)
  }
  const copy = await readMarkerCopy(path)
  if (copy !== undefined) return copy
  throw new HeadwaterError('not_found', `There is no data root at ${path}.`, { path })
}

function isNoPlace(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown }
  return code === 'ENOENT' || code === 'ENOTDIR'
}

function beyondMending(path: string, error: HeadwaterError): HeadwaterError {
  const message = `The marker of ${path} is damaged, and its copy cannot be used either: move this root aside and put the data root back from a backup: \`headwater restore BACKUP\`.`
  return new HeadwaterError(error.code, message, error.detail)
}

function assertForeign(path: string, marker: Marker): void {
  if (!isSameDirectory(marker.directory, directoryIdentity(statSync(path, { bigint: true })))) return
  throw new HeadwaterError('operation_conflict', `${path} is where it was marked; there is nothing to adopt.`, { path })
}

/** Two directories of one rootId at work at once would answer each other's clients. */
async function assertUnused(path: string, { rootId }: Marker): Promise<void> {
  const name = ownerName(rootId)
  if (name === undefined || !(await isNameBound(name))) return
  throw new HeadwaterError(
    'root_name_taken',
    `A leader is at work on the data root that ${path} is a copy of. Stop it, or adopt this one with --as-copy.`,
    { path },
  )
}
