import { randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { chmod, opendir, realpath, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { HeadwaterError, isHeadwaterError } from '../../../schema/errors.ts'
import { DATA_FORMAT } from '../../../schema/version.ts'
import { errnoOf, isTempName, makeDirectories, syncDirectory } from './atomic-file.ts'
import { type DirectoryIdentity, directoryIdentity, isSameDirectory } from './identity.ts'
import { createMarker, type Marker, ROOT_NAMES, readMarker, readMarkerCopy } from './marker.ts'
import { createRootToken } from './token.ts'

/** A root that was found to be itself: its real path, its id (64 hex digits), and what it is recognised by. Source: R1, R2. */
export interface RootCapability {
  readonly path: string
  readonly rootId: string
  readonly identity: DirectoryIdentity
}

/**
 * Finds a data root, and makes one of a missing or empty directory unless `create` is false. A new root is marked and durable when the
 * promise resolves; of several processes that make it at once, all get the same one.
 *
 * Errors: `not_found` (nothing there, and not to be made), `root_not_empty`, `root_identity_changed` (moved, copied or swapped),
 * `incompatible` (a newer format), `storage_fault` (a damaged marker, no permission), `storage_full`. Source: R1, R2.
 */
export async function resolveRoot(options: {
  readonly path: string
  readonly create?: boolean
}): Promise<RootCapability> {
  const given = resolve(options.path)
  try {
    return await findRoot(given, options.create ?? true)
  } catch (error) {
    throw isHeadwaterError(error) ? error : unusable(given, error)
  }
}

async function findRoot(given: string, create: boolean): Promise<RootCapability> {
  if (create) await makeDirectory(given)
  const path = await realDirectory(given)
  const marker = (await readMarker(path)) ?? (await readUnmarked(path, create))
  assertMarkerFits(path, marker, directoryIdentity(statSync(path, { bigint: true })))
  if (create) await tightenMode(path)
  return Object.freeze({ path, rootId: marker.rootId, identity: Object.freeze(marker.directory) })
}

/**
 * Reads the marker again and checks that the root is still the one of the capability. Errors: `not_found`, `root_identity_changed`, and
 * those of a damaged marker.
 */
export async function confirmRoot(capability: RootCapability): Promise<Marker> {
  const { path, rootId } = capability
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
  if (stats === undefined) throw notFound(path)
  const marker = await readMarker(path)
  if (marker === undefined || marker.rootId !== rootId) throw identityChanged(path, 'another directory is in its place')
  assertMarkerFits(path, marker, directoryIdentity(stats))
  return marker
}

function assertMarkerFits(path: string, marker: Marker, found: DirectoryIdentity): void {
  if (isSameDirectory(marker.directory, found)) return
  throw identityChanged(path, 'its directory is not the one that was marked')
}

function identityChanged(path: string, why: string): HeadwaterError {
  return new HeadwaterError(
    'root_identity_changed',
    `The data root ${path} was moved, copied or swapped: ${why}. If it was moved or put back, run ` +
      '`headwater doctor --adopt`; if it is a copy to use beside the original, `headwater doctor --adopt --as-copy`.',
    { path, adopt: 'headwater doctor --adopt', adoptAsCopy: 'headwater doctor --adopt --as-copy' },
  )
}

async function makeDirectory(path: string): Promise<void> {
  try {
    const first = await makeDirectories(path)
    if (first !== undefined) await syncDirectory(dirname(first))
  } catch (error) {
    if (errnoOf(error) === 'EEXIST' || errnoOf(error) === 'ENOTDIR') throw notDirectory(path)
    throw error
  }
}

async function realDirectory(path: string): Promise<string> {
  try {
    const real = await realpath(path)
    if (!(await stat(real)).isDirectory()) throw notDirectory(path)
    return real
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') throw notFound(path)
    if (errnoOf(error) === 'ENOTDIR') throw notDirectory(path)
    throw error
  }
}

async function readUnmarked(path: string, create: boolean): Promise<Marker> {
  const foreign = await foreignName(path)
  if (foreign !== undefined) {
    // another process may have marked the directory and gone to work in it since we looked for its marker
    const marker = await readMarker(path)
    if (marker !== undefined) return marker
    throw await notEmpty(path, foreign)
  }
  if (!create) throw notFound(path)
  return markNew(path)
}

/** With the copy of a marker it was a root, and can be one again. */
async function notEmpty(path: string, foreign: string): Promise<HeadwaterError> {
  const has = `The directory ${path} is not empty (it has ${JSON.stringify(foreign)}) and has no headwater marker`
  if ((await readMarkerCopy(path)) === undefined) {
    return new HeadwaterError('root_not_empty', `${has}; choose an empty one.`, { path })
  }
  const adopt = 'headwater doctor --adopt'
  return new HeadwaterError('root_not_empty', `${has}, but the copy of one: if it was a data root, run \`${adopt}\`.`, {
    path,
    adopt,
  })
}

/** The first name that a half-made root would not have. */
async function foreignName(path: string): Promise<string | undefined> {
  for await (const entry of await opendir(path)) {
    if (entry.name !== ROOT_NAMES.token && !isTempName(entry.name)) return entry.name
  }
  return undefined
}

/** The token goes first: a directory with a marker is a whole root. */
async function markNew(path: string): Promise<Marker> {
  await tightenMode(path)
  await createRootToken(path)
  const marker: Marker = {
    format: DATA_FORMAT,
    rootId: randomBytes(32).toString('hex'),
    databaseCreated: false,
    port: null,
    directory: directoryIdentity(statSync(path, { bigint: true })),
  }
  if (await createMarker(path, marker)) return marker
  const winner = await readMarker(path)
  if (winner === undefined) throw notFound(path)
  return winner
}

async function tightenMode(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const { mode } = await stat(path)
  if ((mode & 0o077) !== 0) await chmod(path, 0o700)
}

function notFound(path: string): HeadwaterError {
  return new HeadwaterError('not_found', `There is no data root at ${path}.`, { path })
}

function notDirectory(path: string): HeadwaterError {
  return new HeadwaterError('root_not_empty', `${path} is not a directory; choose an empty one.`, { path })
}

function unusable(path: string, error: unknown): HeadwaterError {
  const errno = errnoOf(error)
  const code = errno === 'ENOSPC' || errno === 'EDQUOT' ? 'storage_full' : 'storage_fault'
  const why = error instanceof Error ? error.message : String(error)
  return new HeadwaterError(code, `The data root ${path} cannot be used: ${why}`, { path, errno: errno ?? null })
}
