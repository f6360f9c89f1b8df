import { mkdir, opendir, realpath, rm } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import { HeadwaterError, isHeadwaterError } from '../../schema/errors.ts'
import { DATA_FORMAT, VERSION } from '../../schema/version.ts'
import { type CopyProgress, copyDatabase } from '../log/level/database-copy.ts'
import { storageErrorKind } from '../log/level/storage-error.ts'
import { errnoOf, makeDirectories, syncDirectory } from '../log/root/atomic-file.ts'
import { readBounded } from '../log/root/marker.ts'
import type { RootCapability } from '../log/root/resolve.ts'
import type { FrozenReader } from '../log/store.ts'
import { BACKUP_NAMES, type BackupNote, writeNote } from './backup-note.ts'

/** What is backed up, and where to: an absolute path of a missing or empty directory outside of the root. */
export interface BackupOptions {
  readonly root: Pick<RootCapability, 'path' | 'rootId'>
  readonly source: Pick<FrozenReader, 'entries'>
  readonly path: string
  readonly now: number
  readonly onProgress?: (progress: CopyProgress) => void
}

/**
 * Writes one state of a root as a backup; whole and durable when it resolves, and nothing of it is left when it rejects. Errors:
 * `root_not_empty`, `invalid_request` (a place inside the root), `storage_full`, `storage_fault`. Source: D3.
 */
export async function writeBackup(options: BackupOptions): Promise<BackupNote> {
  const { root, source, now, onProgress } = options
  const target = resolve(options.path)
  const made = await prepareTarget(root.path, target)
  try {
    await mkdir(join(target, BACKUP_NAMES.database), { mode: 0o700 })
    const content = await copyDatabase(source, join(target, BACKUP_NAMES.database), onProgress)
    await syncDirectory(target)
    const { digest, ...counts } = content
    const note: BackupNote = {
      format: DATA_FORMAT,
      rootId: root.rootId,
      createdAt: now,
      version: VERSION,
      ...counts,
      content: digest,
    }
    await writeNote(target, note)
    return note
  } catch (error) {
    await removeMade(target, made)
    throw targetFault(target, error)
  }
}

/** Makes the target, if need be; gives the topmost directory it made. */
async function prepareTarget(root: string, target: string): Promise<string | undefined> {
  let made: string | undefined
  try {
    if (isInside(root, target)) throw insideRoot(target)
    made = await makeDirectories(target)
    if (made !== undefined) await syncDirectory(dirname(made))
    if (isInside(root, await realpath(target))) throw insideRoot(target)
    await assertEmpty(target)
    return made
  } catch (error) {
    if (made !== undefined) await rm(made, { recursive: true, force: true })
    throw targetFault(target, error)
  }
}

/** Throws `root_not_empty` for a directory with anything in it. */
export async function assertEmpty(directory: string): Promise<void> {
  for await (const { name } of await opendir(directory)) {
    const isTorn =
      name === BACKUP_NAMES.database && (await readBounded(join(directory, BACKUP_NAMES.note), 1)) === undefined
    const hint = isTorn ? ' If it is a backup that did not end, remove it.' : ''
    throw new HeadwaterError(
      'root_not_empty',
      `The directory ${directory} is not empty (it has ${JSON.stringify(name)}); choose a missing or empty one.${hint}`,
      { path: directory },
    )
  }
}

function isInside(root: string, path: string): boolean {
  return path === root || path.startsWith(root + sep)
}

function insideRoot(target: string): HeadwaterError {
  const message = `path: ${target} lies in the data root itself; choose a place outside of it`
  return new HeadwaterError('invalid_request', message, { path: 'path' })
}

/** What was there before stays; an empty directory that was there is empty again. */
async function removeMade(target: string, made: string | undefined): Promise<void> {
  const gone = made === undefined ? Object.values(BACKUP_NAMES).map(name => join(target, name)) : [made]
  for (const path of gone) await rm(path, { recursive: true, force: true }).catch(() => {})
}

/** A failure to write at a place that is not the root, as what a person can do about it. */
export function targetFault(target: string, error: unknown): unknown {
  if (isHeadwaterError(error)) return error
  const errno = errnoOf(error)
  const why = error instanceof Error ? error.message : String(error)
  if (storageErrorKind(error) === 'full') {
    const message = `There is no room at ${target}: ${why}. What was written there is removed again.`
    return new HeadwaterError('storage_full', message, { path: target })
  }
  if (errno === 'EEXIST' || errno === 'ENOTDIR') {
    return new HeadwaterError('root_not_empty', `${target} is not a directory; choose another place.`, { path: target })
  }
  return new HeadwaterError('storage_fault', `${target} cannot be written: ${why}`, {
    path: target,
    errno: errno ?? null,
  })
}
