import { copyFile, mkdir, open, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import * as z from 'zod/mini'
import { Count } from '../../schema/entities/primitives.ts'
import { HeadwaterError } from '../../schema/errors.ts'
import { LIMITS } from '../../schema/limits.ts'
import { DATA_FORMAT } from '../../schema/version.ts'
import { databaseFileNames } from '../log/root/anchor/anchor.ts'
import { errnoOf, replaceFile, syncDirectory } from '../log/root/atomic-file.ts'
import { ROOT_NAMES, readBounded } from '../log/root/marker.ts'
import type { RootOwner } from '../log/root/owner.ts'
import { copyDatabaseFiles } from '../log/root/view.ts'
import { MIGRATIONS, type Migration } from './migrations.ts'

/** Which format is wanted, and the steps that lead to it. */
export interface MigrationTarget {
  readonly format: number
  readonly migrations: readonly Migration[]
}

/** What was done: the formats, and the folder with the root as it was, which is kept. */
export interface Migrated {
  readonly from: number
  readonly to: number
  readonly backup: string
}

const CURRENT_TARGET: MigrationTarget = { format: DATA_FORMAT, migrations: MIGRATIONS }

/** A migration that was begun. `backup` is the name of a folder in `<root>/backups`. */
const Journal = z.strictObject({ from: Count, to: Count, backup: z.string().check(z.regex(/^[A-Za-z0-9-]{1,64}$/)) })
type Journal = z.infer<typeof Journal>

/**
 * Brings an owned root of an older format up to this one; null where it is there already. First a backup is made, which is kept; then the
 * steps run; the format's number is written last. Cut off anywhere, the next call puts the database back from the backup and begins
 * again. Errors: `incompatible` where no steps lead from the root's format. Source: M1.
 *
 *   old ──backup whole──▶ journal ──steps──▶ migrated ──format written──▶ journal removed
 *                            ▲ └──────── cut off: database put back ┘
 */
export async function migrateRoot(owner: RootOwner, target = CURRENT_TARGET): Promise<Migrated | null> {
  const { path } = owner.capability
  const journalPath = join(path, ROOT_NAMES.migration)
  const from = owner.format
  if (from === target.format) {
    await rm(journalPath, { force: true })
    return null
  }
  const steps = stepsBetween(from, target)
  const begun = await readJournal(journalPath)
  const isSame = begun?.from === from && begun.to === target.format
  const backup = isSame ? begun.backup : await backUp(owner, from)
  const backupPath = join(path, ROOT_NAMES.backups, backup)
  if (isSame) await putBack(owner, backupPath)
  else await replaceFile(journalPath, JSON.stringify({ from, to: target.format, backup } satisfies Journal), 0o600)
  if (owner.databaseCreated()) for (const step of steps) await step.run({ path, databasePath: owner.databasePath })
  await owner.setFormat(target.format)
  await rm(journalPath, { force: true })
  return { from, to: target.format, backup: backupPath }
}

function stepsBetween(from: number, { format, migrations }: MigrationTarget): readonly Migration[] {
  const steps: Migration[] = []
  for (let at = from; at !== format; at = steps.at(-1)?.to ?? at) {
    const step = migrations.find(migration => migration.from === at && migration.to > at && migration.to <= format)
    if (step !== undefined) steps.push(step)
    else {
      throw new HeadwaterError(
        'incompatible',
        `The data root has format ${from}, and nothing leads from format ${at} to ${format}; open it once with a version in between.`,
        { format: from, supported: format },
      )
    }
  }
  return steps
}

async function readJournal(path: string): Promise<Journal | undefined> {
  try {
    const text = await readBounded(path, LIMITS.markerBytes)
    return text === undefined ? undefined : Journal.parse(JSON.parse(text))
  } catch {
    // It was not written whole, so nothing was begun.
    return undefined
  }
}

/** Makes the backup under a name that it gets only when it is whole; durable when it resolves. */
async function backUp(owner: RootOwner, from: number): Promise<string> {
  const { path } = owner.capability
  const name = `format-${from}-${new Date().toISOString().replace(/[:.]/g, '-')}`
  const folder = join(path, ROOT_NAMES.backups)
  const unfinished = join(folder, 'unfinished')
  await rm(unfinished, { recursive: true, force: true })
  await mkdir(join(unfinished, ROOT_NAMES.database), { recursive: true, mode: 0o700 })
  if (owner.databaseCreated()) await copyDatabase(owner.databasePath, join(unfinished, ROOT_NAMES.database))
  for (const file of [ROOT_NAMES.marker, ROOT_NAMES.anchor]) await copySynced(join(path, file), join(unfinished, file))
  await syncDirectory(unfinished)
  await rename(unfinished, join(folder, name))
  await syncDirectory(folder)
  return basename(name)
}

/** Tables are hard links and synced already; all else is a copy. Durable when it resolves. */
async function copyDatabase(from: string, to: string): Promise<void> {
  await copyDatabaseFiles(from, to)
  for (const name of await databaseFileNames(to)) await syncFile(join(to, name))
  await syncDirectory(to)
}

async function copySynced(from: string, to: string): Promise<void> {
  try {
    await copyFile(from, to)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return
    throw error
  }
  await syncFile(to)
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+')
  await file.sync().finally(() => file.close())
}

/** The database as it was before the migration that was cut off. Only its owner is here, and it is closed. */
async function putBack(owner: RootOwner, backup: string): Promise<void> {
  if (!owner.databaseCreated()) return
  owner.prove()
  await rm(owner.databasePath, { recursive: true, force: true })
  await mkdir(owner.databasePath, { mode: 0o700 })
  await copyDatabase(join(backup, ROOT_NAMES.database), owner.databasePath)
}
