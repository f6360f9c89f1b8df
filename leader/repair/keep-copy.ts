import { type FileHandle, mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import { HeadwaterError } from '../../schema/errors.ts'
import { LIMITS } from '../../schema/limits.ts'
import { headKey, type KeyRange, rowKey, sessionRanges } from '../log/keys.ts'
import { errnoOf, syncDirectory } from '../log/root/atomic-file.ts'
import { ROOT_NAMES } from '../log/root/marker.ts'
import type { FrozenReader } from '../log/store.ts'
import { rootRowsOf } from './root-rows.ts'

/**
 * Writes all that is stored of a session into a new file of the root, one line a record: `{key, value}`, the value in base64 as it lies on the
 * disk, or `{range, error}` for what cannot be read. Durable when it resolves; gives the file's path. Source: D2.
 */
export async function keepCopy(root: string, reader: FrozenReader, sessionId: string): Promise<string> {
  const folder = join(root, ROOT_NAMES.backups)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const { file, path } = await openNew(folder, sessionId)
  try {
    for await (const range of rangesOf(reader, sessionId)) await copyRange(file, reader, range)
    await file.sync()
  } finally {
    await file.close()
  }
  await syncDirectory(folder)
  return path
}

async function openNew(folder: string, sessionId: string): Promise<{ file: FileHandle; path: string }> {
  for (let n = 1; n <= LIMITS.repairFiles; n++) {
    const path = join(folder, `repair-${sessionId}-${n}.jsonl`)
    try {
      return { file: await open(path, 'wx', 0o600), path }
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw error
    }
  }
  throw new HeadwaterError('too_large', `There are too many files of earlier repairs in ${folder}.`, { path: folder })
}

async function* rangesOf(reader: FrozenReader, sessionId: string): AsyncGenerator<KeyRange> {
  yield only(headKey(sessionId))
  yield* sessionRanges(sessionId)
  for await (const { kind, id } of rootRowsOf(reader, sessionId)) yield only(rowKey(kind, '', id))
}

function only(key: string): KeyRange {
  return { gte: key, lt: `${key}\0` }
}

async function copyRange(file: FileHandle, reader: FrozenReader, range: KeyRange): Promise<void> {
  try {
    for await (const page of reader.entries(range)) {
      const lines = page.map(([key, value]) => JSON.stringify({ key, value: Buffer.from(value).toString('base64') }))
      if (lines.length > 0) await file.write(`${lines.join('\n')}\n`)
    }
  } catch (error) {
    if (errnoOf(error) === 'ENOSPC') throw error
    await file.write(`${JSON.stringify({ range, error: error instanceof Error ? error.message : String(error) })}\n`)
  }
}
