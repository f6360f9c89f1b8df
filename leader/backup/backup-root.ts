import { HeadwaterError } from '../../schema/errors.ts'
import type { CopyProgress } from '../log/level/database-copy.ts'
import { openLevelReader } from '../log/level-store.ts'
import { tryAcquireRootReader } from '../log/root/reader.ts'
import { resolveRoot } from '../log/root/resolve.ts'
import type { BackupNote } from './backup-note.ts'
import { writeBackup } from './write-backup.ts'

/**
 * Backs up a root that has no running leader. Errors: those of the root, `root_owned`, `not_found` for one that holds nothing yet, and those of
 * the target. Source: D3, R9.
 */
export async function backupRoot(options: {
  readonly root: string
  readonly path: string
  readonly onProgress?: (progress: CopyProgress) => void
}): Promise<BackupNote> {
  const capability = await resolveRoot({ path: options.root, create: false })
  const reader = await tryAcquireRootReader(capability)
  if (reader === undefined) throw new HeadwaterError('root_owned')
  try {
    if (reader.isEmpty) throw new HeadwaterError('not_found', 'The data root holds nothing yet.')
    const source = await openLevelReader({ path: reader.databasePath })
    try {
      const { path, onProgress } = options
      const more = onProgress === undefined ? {} : { onProgress }
      return await writeBackup({ root: capability, source, path, now: Date.now(), ...more })
    } finally {
      await source.close()
    }
  } finally {
    await reader.close()
  }
}
