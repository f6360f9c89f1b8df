import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Fault } from '../../schema/commands/host.ts'
import { HeadwaterError, isHeadwaterError } from '../../schema/errors.ts'
import { type BackupNote, readNote } from '../backup/backup-note.ts'
import { openBackup, openPrivateReader } from '../backup/open-backup.ts'
import { sumUp } from '../log/level/database-copy.ts'
import { inspectDatabase, openLevelReader } from '../log/level-store.ts'
import { type Anchor, readAnchor } from '../log/root/anchor/anchor.ts'
import { findRegression } from '../log/root/anchor/regression.ts'
import { isNameBound, ownerName } from '../log/root/evidence.ts'
import { ROOT_NAMES, readMarker } from '../log/root/marker.ts'
import { tryAcquireRootReader } from '../log/root/reader.ts'
import { resolveRoot } from '../log/root/resolve.ts'
import type { FrozenReader } from '../log/store.ts'
import { type VerifyProgress, type VerifySummary, verifyRoot } from './verify-root.ts'

/** What a directory that was checked is, and what was read of it. */
export interface DirectorySummary extends VerifySummary {
  /** `view`: a root, read beside whoever owns it later; `copy`: a root in which nothing may be written; `backup`: a backup. */
  readonly by: 'view' | 'copy' | 'backup'
  readonly backup?: BackupNote
}

/**
 * Checks a root without a running leader, or a backup, and yields each fault; nothing in the directory is changed. Errors: `root_owned` while a
 * leader holds the root, `not_found` (also for a torn backup), and those of a root. Source: D2, D3, R9.
 */
export async function* verifyDirectory(
  directory: string,
  onProgress: (progress: VerifyProgress) => void = () => {},
): AsyncGenerator<Fault, DirectorySummary> {
  const path = resolve(directory)
  if ((await readMarker(path)) === undefined && (await isBackup(path))) return yield* verifyBackup(path, onProgress)
  const capability = await resolveRoot({ path, create: false })
  const known = await readKnown(capability.path)
  if (!(await isWritable(capability.path))) {
    return yield* verifyCopy(capability.path, capability.rootId, onProgress)
  }
  const view = await tryAcquireRootReader(capability)
  if (view === undefined) throw new HeadwaterError('root_owned')
  try {
    if (view.isEmpty) return { sessions: 0, records: 0, documents: 0, by: 'view' }
    yield* regressionOf(view.databasePath, known)
    return yield* verifyReader(await openLevelReader({ path: view.databasePath }), 'view', onProgress)
  } finally {
    await view.close()
  }
}

/** What a root knows of the database it had. */
interface Known {
  readonly anchor: Anchor | 'missing' | 'damaged'
  readonly databaseId: string | undefined
}

async function readKnown(root: string): Promise<Known> {
  return { anchor: await readAnchor(root), databaseId: (await readMarker(root))?.databaseId }
}

/** The fault of a database that is not what was acknowledged; looks at a view alone. What cannot be opened is told by the walk. Source: D4. */
async function* regressionOf(databasePath: string, { anchor, databaseId }: Known): AsyncGenerator<Fault> {
  const facts = await inspectDatabase(databasePath).catch(() => null)
  const regression = facts === null ? null : findRegression(anchor, databaseId, facts)
  if (regression !== null) yield { code: 'root_regressed', kind: regression.kind, message: regression.message }
}

/** What the walk cannot go on behind: a part of the database that belongs to no session alone cannot be read. */
function isCorruption(error: unknown): error is HeadwaterError {
  return isHeadwaterError(error) && error.code === 'storage_fault' && error.detail?.kind === 'corruption'
}

/** A directory with a database and without a marker: a backup, whole or torn. */
async function isBackup(path: string): Promise<boolean> {
  if ((await readNote(path)) !== undefined) return true
  return await access(join(path, ROOT_NAMES.database)).then(
    () => true,
    () => false,
  )
}

async function isWritable(path: string): Promise<boolean> {
  return await access(path, constants.W_OK).then(
    () => true,
    () => false,
  )
}

async function* verifyBackup(
  path: string,
  onProgress: (progress: VerifyProgress) => void,
): AsyncGenerator<Fault, DirectorySummary> {
  const { note, reader } = await openBackup(path)
  let isWhole = false
  try {
    isWhole = (await sumUp(reader)).digest === note.content
  } catch {
    // the walk tells what cannot be read
  }
  if (!isWhole) {
    const message = 'the content of the backup is not what its backup.json says'
    yield { code: 'storage_fault', kind: 'backup_differs', message }
  }
  return { ...(yield* verifyReader(reader, 'backup', onProgress)), backup: note }
}

/** Nothing can be locked there: whoever may write could begin at any moment, which is as good as it gets. */
async function* verifyCopy(
  path: string,
  rootId: string,
  onProgress: (progress: VerifyProgress) => void,
): AsyncGenerator<Fault, DirectorySummary> {
  const name = ownerName(rootId)
  if (name !== undefined && (await isNameBound(name))) throw new HeadwaterError('root_owned')
  return yield* verifyReader(await openPrivateReader(join(path, ROOT_NAMES.database)), 'copy', onProgress)
}

async function* verifyReader(
  reader: FrozenReader,
  by: DirectorySummary['by'],
  onProgress: (progress: VerifyProgress) => void,
): AsyncGenerator<Fault, DirectorySummary> {
  let read: VerifyProgress = { sessions: 0, sessionsTotal: 0, records: 0 }
  try {
    const walk = verifyRoot(reader, progress => {
      read = progress
      onProgress(progress)
    })
    return { ...(yield* walk), by }
  } catch (error) {
    if (!isCorruption(error)) throw error
    yield { code: 'storage_fault', kind: 'corruption', message: error.message }
    return { sessions: read.sessions, records: read.records, documents: read.sessions, by }
  } finally {
    await reader.close()
  }
}
