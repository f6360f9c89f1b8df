import { randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { mkdir, realpath, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { HeadwaterError } from '../../schema/errors.ts'
import { DATA_FORMAT } from '../../schema/version.ts'
import { type CopyProgress, copyDatabase } from '../log/level/database-copy.ts'
import { makeDirectories, syncDirectory } from '../log/root/atomic-file.ts'
import { directoryIdentity } from '../log/root/identity.ts'
import { createMarker, ROOT_NAMES } from '../log/root/marker.ts'
import { createRootToken } from '../log/root/token.ts'
import type { BackupNote } from './backup-note.ts'
import { openBackup } from './open-backup.ts'
import { assertEmpty, targetFault } from './write-backup.ts'

/** Which backup is put back where. `isCopy`: as another root beside the original. */
export interface RestoreOptions {
  readonly backup: string
  readonly root: string
  readonly isCopy: boolean
  readonly onProgress?: (progress: CopyProgress) => void
}

/** A root that was put back. */
export interface RestoredRoot {
  readonly path: string
  readonly rootId: string
  readonly note: BackupNote
}

/**
 * Puts a backup back into a missing or empty directory. The marker is written last, so that what did not end is no root. The root has a new
 * token and chooses a new port; its next leader begins a new lineage, in which every document is a new build. Errors: `root_not_empty`,
 * `storage_full`, and those of `openBackup`; on an error nothing is left. Source: D3.
 */
export async function restoreRoot(options: RestoreOptions): Promise<RestoredRoot> {
  const backup = await openBackup(resolve(options.backup))
  try {
    const target = resolve(options.root)
    const made = await prepareRoot(target)
    try {
      return await fillRoot(await realpath(target), backup, options)
    } catch (error) {
      const left = [ROOT_NAMES.database, ROOT_NAMES.token, ROOT_NAMES.marker].map(name => join(target, name))
      for (const path of made === undefined ? left : [made]) await rm(path, { recursive: true, force: true })
      throw targetFault(target, error)
    }
  } finally {
    await backup.close()
  }
}

async function prepareRoot(target: string): Promise<string | undefined> {
  try {
    const made = await makeDirectories(target)
    if (made !== undefined) await syncDirectory(dirname(made))
    await assertEmpty(target)
    return made
  } catch (error) {
    throw targetFault(target, error)
  }
}

async function fillRoot(
  path: string,
  { note, reader }: Awaited<ReturnType<typeof openBackup>>,
  { isCopy, onProgress }: RestoreOptions,
): Promise<RestoredRoot> {
  const database = join(path, ROOT_NAMES.database)
  await mkdir(database, { mode: 0o700 })
  const content = await copyDatabase(reader, database, onProgress)
  if (content.digest !== note.content) {
    throw new HeadwaterError('storage_fault', 'The backup is damaged: its content is not what its backup.json says.', {
      kind: 'backup_damaged',
    })
  }
  await createRootToken(path)
  const rootId = isCopy ? randomBytes(32).toString('hex') : note.rootId
  const isFirst = await createMarker(path, {
    format: DATA_FORMAT,
    rootId,
    databaseCreated: true,
    port: null,
    pending: isCopy ? 'copied' : 'adopted',
    directory: directoryIdentity(statSync(path, { bigint: true })),
  })
  if (!isFirst) throw new HeadwaterError('root_not_empty', undefined, { path })
  return { path, rootId, note }
}
