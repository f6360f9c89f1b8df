import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { canonicalJson } from '../../../schema/canonical.ts'
import { Count } from '../../../schema/entities/primitives.ts'
import { HeadwaterError } from '../../../schema/errors.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { MARKER_FILE } from '../../../schema/places.ts'
import { DATA_FORMAT } from '../../../schema/version.ts'
import { createFile, errnoOf, replaceFile } from './atomic-file.ts'

/** Names in a root. The anchor stands beside the database, in a root as in a reader's view. */
export const ROOT_NAMES = {
  marker: MARKER_FILE,
  markerCopy: `${MARKER_FILE}.copy`,
  token: 'headwater.token',
  lock: 'lock',
  database: 'database',
  anchor: 'anchor.json',
  reached: 'reached',
  views: 'views',
  evidence: 'evidence',
  backups: 'backups',
  migration: 'migration.json',
} as const

const Decimal = z.string().check(z.regex(/^[0-9]{1,20}$/))

/**
 * What makes a directory a root. `port` is the TCP port, null until one was chosen; `databaseCreated` says that a database was created
 * and synced, so its absence is damage. `databaseId` is there once the root has an anchor: from then on the anchor's absence is suspicious.
 * `pending` says that the next open begins a new lineage; for a copy it also gives up the former processes. Source: R1, R2, R7, D4, W1.
 */
export const Marker = z.strictObject({
  format: Count,
  rootId: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
  databaseCreated: z.boolean(),
  port: z.nullable(Count.check(z.gte(1), z.lte(65_535))),
  databaseId: z.optional(z.string().check(z.regex(/^[0-9a-f]{32}$/))),
  pending: z.optional(z.enum(['adopted', 'copied', 'accepted'])),
  directory: z.strictObject({
    inode: Decimal,
    birthTimeNs: z.nullable(Decimal),
    device: Decimal,
    bootId: z.nullable(z.string().check(z.regex(/^[0-9a-f-]{36}$/))),
  }),
})
export type Marker = z.infer<typeof Marker>

/**
 * The marker of a directory; undefined if it has none. Throws `incompatible` for a newer format and `storage_fault` for a marker that is
 * torn, altered or unreadable: damage, never a reason to make a new one.
 */
export async function readMarker(directory: string): Promise<Marker | undefined> {
  const path = join(directory, ROOT_NAMES.marker)
  const text = await readBounded(path, LIMITS.markerBytes)
  return text === undefined ? undefined : decodeMarker(text, path)
}

/** Marks a directory; false if another process was first. */
export function createMarker(directory: string, marker: Marker): Promise<boolean> {
  return createFile(join(directory, ROOT_NAMES.marker), encodeMarker(marker), 0o600)
}

/** Puts a new marker in the old one's place, and a copy beside it. Only for the root's owner. */
export async function replaceMarker(directory: string, marker: Marker): Promise<void> {
  const text = encodeMarker(marker)
  await replaceFile(join(directory, ROOT_NAMES.marker), text, 0o600)
  // Without it a damaged marker cannot be mended, and nothing else is lost.
  await replaceFile(join(directory, ROOT_NAMES.markerCopy), text, 0o600).catch(() => {})
}

/** The copy of a marker, for a root whose marker is gone or damaged; undefined where it cannot be used either. */
export async function readMarkerCopy(directory: string): Promise<Marker | undefined> {
  const path = join(directory, ROOT_NAMES.markerCopy)
  try {
    const text = await readBounded(path, LIMITS.markerBytes)
    return text === undefined ? undefined : decodeMarker(text, path)
  } catch {
    return undefined
  }
}

/** A small file's text, undefined if there is none; one that is over the bound gives a text over the bound. */
export async function readBounded(path: string, maxBytes: number): Promise<string | undefined> {
  let file: Awaited<ReturnType<typeof open>>
  try {
    file = await open(path, 'r')
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(maxBytes + 1), 0, maxBytes + 1, 0)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await file.close()
  }
}

function encodeMarker(marker: Marker): string {
  return `${JSON.stringify({ ...Marker.parse(marker), digest: digestOf(marker) })}\n`
}

function decodeMarker(text: string, path: string): Marker {
  const value = parseObject(text)
  if (value === undefined) throw damaged(path, 'is no JSON object')
  const { digest, ...rest } = value
  if (typeof rest.format === 'number' && rest.format > DATA_FORMAT) {
    throw new HeadwaterError(
      'incompatible',
      `The data root was written by a newer headwater (format ${rest.format}, this one reads up to ${DATA_FORMAT}); upgrade headwater.`,
      { path, format: rest.format, supported: DATA_FORMAT },
    )
  }
  const marker = Marker.safeParse(rest)
  if (!marker.success) throw damaged(path, 'does not have the shape of a marker')
  if (digest !== digestOf(marker.data)) throw damaged(path, 'does not match its digest')
  return marker.data
}

function parseObject(text: string): Record<string, unknown> | undefined {
  if (text.length > LIMITS.markerBytes) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return value !== null && typeof value === 'object' && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

function digestOf(marker: Marker): string {
  return `sha256:${createHash('sha256').update(canonicalJson(marker)).digest('hex')}`
}

function damaged(path: string, what: string): HeadwaterError {
  return new HeadwaterError(
    'storage_fault',
    `The marker ${path} is damaged: it ${what}. Nothing was changed; make it anew with \`headwater doctor --adopt\`.`,
    { path, kind: 'marker_damaged' },
  )
}
