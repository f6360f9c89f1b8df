import { createHash } from 'node:crypto'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { canonicalJson } from '../../schema/canonical.ts'
import { Count, Digest, Instant } from '../../schema/entities/primitives.ts'
import { HeadwaterError } from '../../schema/errors.ts'
import { LIMITS } from '../../schema/limits.ts'
import { DATA_FORMAT } from '../../schema/version.ts'
import { createFile } from '../log/root/atomic-file.ts'
import { readBounded } from '../log/root/marker.ts'

/** Names in a backup. */
export const BACKUP_NAMES = { note: 'backup.json', database: 'database' } as const

/**
 * What a backup says of itself, written last: without it a backup is torn. `batch` is the number of the newest batch in it, `content` the digest
 * of all its entries. Source: D3.
 */
export const BackupNote = z.strictObject({
  format: Count,
  rootId: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
  createdAt: Instant,
  version: z.string(),
  batch: Count,
  sessions: Count,
  records: Count,
  bytes: Count,
  content: Digest,
})
export type BackupNote = z.infer<typeof BackupNote>

/** Puts the note into a backup whose database is whole; durable when it resolves. */
export async function writeNote(directory: string, note: BackupNote): Promise<void> {
  const text = `${JSON.stringify({ ...BackupNote.parse(note), digest: digestOf(note) }, null, 2)}\n`
  if (!(await createFile(join(directory, BACKUP_NAMES.note), text, 0o600))) {
    throw new HeadwaterError('root_not_empty', `Somebody else wrote a backup into ${directory}.`, { path: directory })
  }
}

/** The note of a backup; undefined where there is none. Errors: `incompatible`, `storage_fault` where it is damaged. */
export async function readNote(directory: string): Promise<BackupNote | undefined> {
  const path = join(directory, BACKUP_NAMES.note)
  const text = await readBounded(path, LIMITS.backupNoteBytes)
  if (text === undefined) return undefined
  const { digest, ...rest } = parse(text, path)
  if (typeof rest.format === 'number' && rest.format > DATA_FORMAT) {
    throw new HeadwaterError(
      'incompatible',
      `The backup was written by a newer headwater (format ${rest.format}, this one reads up to ${DATA_FORMAT}); upgrade headwater.`,
      { path, format: rest.format, supported: DATA_FORMAT },
    )
  }
  const note = BackupNote.safeParse(rest)
  if (!note.success || digest !== digestOf(note.data)) throw damaged(path)
  return note.data
}

function parse(text: string, path: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (value !== null && typeof value === 'object') return value as Record<string, unknown>
  } catch {
    // said below
  }
  throw damaged(path)
}

function digestOf(note: BackupNote): string {
  return `sha256:${createHash('sha256').update(canonicalJson(note)).digest('hex')}`
}

function damaged(path: string): HeadwaterError {
  return new HeadwaterError('storage_fault', `${path} is damaged; use another backup.`, {
    path,
    kind: 'backup_damaged',
  })
}
