import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HeadwaterError } from '../../schema/errors.ts'
import { openLevelReader } from '../log/level-store.ts'
import { copyDatabaseFiles } from '../log/root/view.ts'
import type { FrozenReader } from '../log/store.ts'
import { BACKUP_NAMES, type BackupNote, readNote } from './backup-note.ts'

/** An open backup. Its files are not touched: what is read is a private copy, so it may lie where nobody may write. */
export interface OpenBackup {
  readonly note: BackupNote
  readonly reader: FrozenReader
  close(): Promise<void>
}

/** Opens a whole backup. Errors: `not_found` (no backup, or a torn one), `incompatible`, `storage_fault`. Source: D3. */
export async function openBackup(directory: string): Promise<OpenBackup> {
  const note = await readNote(directory)
  if (note === undefined) {
    throw new HeadwaterError(
      'not_found',
      `There is no whole backup at ${directory}: it has no ${BACKUP_NAMES.note}, which is written last. If one was being written there, it did not end.`,
      { path: directory, kind: 'backup_torn' },
    )
  }
  const reader = await openPrivateReader(join(directory, BACKUP_NAMES.database))
  return { note, reader, close: () => reader.close() }
}

/** Reads a database by a private copy in the system's temporary directory. Errors: `storage_fault`. */
export async function openPrivateReader(databasePath: string): Promise<FrozenReader> {
  const copy = await mkdtemp(join(tmpdir(), 'headwater-view-'))
  const remove = () => rm(copy, { recursive: true, force: true })
  try {
    await copyDatabaseFiles(databasePath, copy)
    const reader = await openLevelReader({ path: copy })
    const close = reader.close.bind(reader)
    return Object.assign(reader, { close: () => close().finally(remove) })
  } catch (error) {
    await remove()
    throw error
  }
}
