import { randomBytes } from 'node:crypto'
import { copyFile, link, mkdir, opendir, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { ClassicLevel } from 'classic-level'
import { HeadwaterError } from '../../../schema/errors.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { errnoOf } from './atomic-file.ts'
import { openViews } from './claims.ts'
import { openLock } from './evidence.ts'
import { ROOT_NAMES } from './marker.ts'

/** A frozen look at a root's database in a directory of its own; `databasePath` may be opened, changed and damaged at will. */
export interface View {
  readonly databasePath: string
  remove(): Promise<void>
}

const TABLE = /\.(?:ldb|sst)$/
const VIEW_NAME = /^[0-9a-f]{16}$/

/**
 * Makes a view of the database of a root whose lock the caller holds. It lies in the root, so that tables can be hard-linked: they never
 * change in place, and the names that the owner unlinks later stay here. A lock of its own, held until `remove`, tells a view in use from
 * one whose reader died. Source: R9.
 */
export async function makeView(root: string, hasDatabase: boolean): Promise<View> {
  const path = join(root, ROOT_NAMES.views, randomBytes(8).toString('hex'))
  await mkdir(path, { recursive: true, mode: 0o700 })
  const lock = await openLock(join(path, ROOT_NAMES.lock))
  if (lock === undefined) throw new HeadwaterError('internal_failure', `A new view is already in use: ${path}`)
  openViews().add(path)
  try {
    const databasePath = join(path, ROOT_NAMES.database)
    await mkdir(databasePath, { mode: 0o700 })
    if (hasDatabase) {
      await copyDatabaseFiles(join(root, ROOT_NAMES.database), databasePath)
      await copyIfThere(join(root, ROOT_NAMES.anchor), join(path, ROOT_NAMES.anchor))
    }
    return { databasePath, remove: () => removeView(root, path, lock) }
  } catch (error) {
    await removeView(root, path, lock)
    throw error
  }
}

/** Removes the views of readers that died. The caller holds the root's lock, so no view is being made. */
export async function sweepViews(root: string): Promise<void> {
  const views = join(root, ROOT_NAMES.views)
  let seen = 0
  try {
    for await (const entry of await opendir(views)) {
      if (++seen > LIMITS.rootViews) break
      const path = join(views, entry.name)
      if (VIEW_NAME.test(entry.name) && !openViews().has(path)) await sweepView(path)
    }
    await rmdir(views)
  } catch (error) {
    if (!isOrdinary(error)) throw error
  }
}

async function sweepView(path: string): Promise<void> {
  const lock = await openLock(join(path, ROOT_NAMES.lock))
  if (lock === undefined) return
  await lock.close()
  await rm(path, { recursive: true, force: true })
}

async function removeView(root: string, path: string, lock: ClassicLevel): Promise<void> {
  try {
    await lock.close()
    await rm(path, { recursive: true, force: true })
  } finally {
    openViews().delete(path)
  }
  try {
    await rmdir(join(root, ROOT_NAMES.views))
  } catch (error) {
    if (!isOrdinary(error)) throw error
  }
}

/** Copies the files of a database that nobody writes; tables become hard links where that is possible. Source: R9. */
export async function copyDatabaseFiles(from: string, to: string): Promise<void> {
  let seen = 0
  try {
    for await (const entry of await opendir(from)) {
      if (++seen > LIMITS.viewFiles) throw new HeadwaterError('too_large', `The database has too many files: ${from}`)
      if (entry.name === 'LOCK' || !entry.isFile()) continue
      await (TABLE.test(entry.name) ? linkOrCopy : copyFile)(join(from, entry.name), join(to, entry.name))
    }
  } catch (error) {
    // a database that is not there is damage, and whoever opens the view finds it
    if (errnoOf(error) !== 'ENOENT') throw error
  }
}

async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch (error) {
    if (!/^(?:EXDEV|EPERM|EACCES|EROFS|EMLINK|ENOTSUP|EOPNOTSUPP|ENOSYS)$/.test(errnoOf(error) ?? '')) throw error
    await copyFile(from, to)
  }
}

async function copyIfThere(from: string, to: string): Promise<void> {
  try {
    await copyFile(from, to)
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
  }
}

function isOrdinary(error: unknown): boolean {
  return /^(?:ENOENT|ENOTEMPTY|EEXIST)$/.test(errnoOf(error) ?? '')
}
