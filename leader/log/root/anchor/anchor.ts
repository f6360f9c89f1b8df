import { createHash } from 'node:crypto'
import { opendir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { canonicalJson } from '../../../../schema/canonical.ts'
import { Count, Instant } from '../../../../schema/entities/primitives.ts'
import { LIMITS } from '../../../../schema/limits.ts'
import { errnoOf, replaceFile } from '../atomic-file.ts'
import { ROOT_NAMES, readBounded } from '../marker.ts'
import { readReached } from './reached-mark.ts'

const Digest = z.string().check(z.regex(/^sha256:[0-9a-f]{64}$/))

/**
 * What the database beside it has reached. `batch` is the number of its newest batch when the anchor was written; `files` is there after a
 * clean stop only and says how the database's files were left. Source: D4.
 */
const Anchor = z.strictObject({
  databaseId: z.string().check(z.regex(/^[0-9a-f]{32}$/)),
  batch: Count,
  isClean: z.boolean(),
  files: z.nullable(Digest),
  writtenAt: Instant,
})
/** An anchor as it is written. */
export type Anchor = z.infer<typeof Anchor>

/**
 * The anchor of a root; `missing` where there is none, `damaged` where it is not what was written. Its `batch` is the one that the mark
 * beside it reached, where that is further on.
 */
export async function readAnchor(root: string): Promise<Anchor | 'missing' | 'damaged'> {
  const text = await readBounded(join(root, ROOT_NAMES.anchor), LIMITS.anchorBytes)
  if (text === undefined) return 'missing'
  try {
    const { digest, ...rest } = JSON.parse(text) as Record<string, unknown>
    const anchor = Anchor.safeParse(rest)
    if (!anchor.success || digest !== digestOf(anchor.data)) return 'damaged'
    return await withReached(root, anchor.data)
  } catch {
    return 'damaged'
  }
}

async function withReached(root: string, anchor: Anchor): Promise<Anchor> {
  const reached = await readReached(root)
  const isFurther = reached !== null && reached.databaseId === anchor.databaseId && reached.batch > anchor.batch
  return isFurther ? { ...anchor, batch: reached.batch } : anchor
}

/** Puts a new anchor in the old one's place; durable when it resolves. Only for the root's owner. */
export async function writeAnchor(root: string, anchor: Anchor): Promise<void> {
  const text = `${JSON.stringify({ ...Anchor.parse(anchor), digest: digestOf(anchor) })}\n`
  await replaceFile(join(root, ROOT_NAMES.anchor), text, 0o600)
}

const PART = /^(?:CURRENT|MANIFEST-\d+|\d+\.log)$/

/**
 * How the files of a closed database that change are now, as one digest: name, size and time of its logs and manifests, and the manifest
 * that counts. A copy differs; it is only looked at more closely.
 * The database must not be open. Source: D4, R4.
 */
export async function databaseFiles(databasePath: string): Promise<string> {
  const lines: string[] = []
  for (const name of await databaseFileNames(databasePath)) {
    const path = join(databasePath, name)
    const { size, mtimeMs } = await stat(path)
    lines.push(`${name} ${size} ${Math.floor(mtimeMs)}`)
    if (name === 'CURRENT') lines.push((await readBounded(path, LIMITS.anchorBytes)) ?? '')
  }
  return `sha256:${createHash('sha256').update(lines.join('\n')).digest('hex')}`
}

/** Names of a database's logs, manifests and CURRENT, in order; none where there is no directory. */
export async function databaseFileNames(databasePath: string): Promise<readonly string[]> {
  const names: string[] = []
  let seen = 0
  try {
    for await (const entry of await opendir(databasePath)) {
      if (++seen > LIMITS.viewFiles || names.length >= LIMITS.keptFiles) break
      if (PART.test(entry.name)) names.push(entry.name)
    }
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
  }
  return names.sort()
}

function digestOf(anchor: Anchor): string {
  return `sha256:${createHash('sha256').update(canonicalJson(anchor)).digest('hex')}`
}
