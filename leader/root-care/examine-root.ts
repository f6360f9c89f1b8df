import { chmod, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { Fault } from '../../schema/commands/host.ts'
import { isHeadwaterError } from '../../schema/errors.ts'
import { inspectDatabase, openLevelReader } from '../log/level-store.ts'
import { type Anchor, readAnchor } from '../log/root/anchor/anchor.ts'
import { keptSets } from '../log/root/anchor/kept-files.ts'
import { findRegression, type Regression } from '../log/root/anchor/regression.ts'
import { isPortFree } from '../log/root/endpoint/port.ts'
import { socketPlace } from '../log/root/endpoint/socket-place.ts'
import { ROOT_NAMES, readMarker } from '../log/root/marker.ts'
import { readPlaces } from '../log/root/places.ts'
import { tryAcquireRootReader } from '../log/root/reader.ts'
import type { RootCapability } from '../log/root/resolve.ts'
import { readRootToken } from '../log/root/token.ts'
import { verifyRoot } from '../verify/verify-root.ts'

/** How the database of a root is. `owned`: a leader has it; it is asked instead. */
export type DatabaseState =
  | { readonly kind: 'owned' }
  | { readonly kind: 'none' }
  | { readonly kind: 'unreadable'; readonly message: string }
  | {
      readonly kind: 'readable'
      readonly batch: number
      readonly regression: Regression | null
      readonly faults: readonly Fault[]
    }

/**
 * What a look at a root shows that changes nothing in it. `anchoredAt` is when the anchor was written; null where there is none. `port` is
 * the one in the marker and whether something listens on it. Unit: bytes, ms.
 */
export interface Examination {
  readonly anchor: 'clean' | 'unclean' | 'missing' | 'damaged'
  readonly anchoredAt: number | null
  readonly keptSets: readonly string[]
  readonly database: DatabaseState
  readonly socket: { readonly path: string } | { readonly failure: string }
  readonly port: { readonly number: number; readonly isFree: boolean } | null
  readonly freeBytes: number
  /** Why the token cannot be used, or null. */
  readonly tokenFailure: string | null
}

/** Faults one examination lists. */
const FAULTS_LISTED = 1_000

/**
 * Looks at a root from all sides; nothing in it is changed, and a leader that runs on it is not disturbed. `onProgress` is told how many
 * sessions were checked. Source: D1, D2, D4, R9.
 */
export async function examineRoot(
  capability: RootCapability,
  onProgress: (sessions: number) => void = () => {},
): Promise<Examination> {
  const { path } = capability
  const marker = await readMarker(path)
  const anchor = await readAnchor(path)
  const { bavail, bsize } = await statfs(path)
  const port = marker?.port ?? null
  return {
    anchor: typeof anchor === 'string' ? anchor : anchor.isClean ? 'clean' : 'unclean',
    anchoredAt: typeof anchor === 'string' ? null : anchor.writtenAt,
    keptSets: await keptSets(path),
    database: await examineDatabase(capability, { anchor, databaseId: marker?.databaseId }, onProgress),
    socket: await socketPlace(capability.rootId, readPlaces()).then(
      ({ socketPath }) => ({ path: socketPath }),
      error => ({ failure: messageOf(error) }),
    ),
    port: port === null ? null : { number: port, isFree: await isPortFree(port) },
    freeBytes: bavail * bsize,
    tokenFailure: await readRootToken(capability).then(
      () => null,
      error => messageOf(error),
    ),
  }
}

async function examineDatabase(
  capability: RootCapability,
  known: { readonly anchor: Anchor | 'missing' | 'damaged'; readonly databaseId: string | undefined },
  onProgress: (sessions: number) => void,
): Promise<DatabaseState> {
  const reader = await tryAcquireRootReader(capability)
  if (reader === undefined) return { kind: 'owned' }
  try {
    if (reader.isEmpty) return { kind: 'none' }
    const facts = await inspectDatabase(reader.databasePath)
    const regression = findRegression(known.anchor, known.databaseId, facts)
    return { kind: 'readable', batch: facts.batch, regression, faults: await faultsIn(reader.databasePath, onProgress) }
  } catch (error) {
    if (!isHeadwaterError(error)) throw error
    return { kind: 'unreadable', message: error.message }
  } finally {
    await reader.close()
  }
}

async function faultsIn(path: string, onProgress: (sessions: number) => void): Promise<readonly Fault[]> {
  const store = await openLevelReader({ path })
  const faults: Fault[] = []
  try {
    for await (const fault of verifyRoot(store, ({ sessions }) => onProgress(sessions))) {
      faults.push(fault)
      if (faults.length >= FAULTS_LISTED) break
    }
  } finally {
    await store.close()
  }
  return faults
}

/** What was open to others in a root, and is not any more: each as a sentence. Source: R1, Z2. */
export async function tightenRoot(root: string): Promise<readonly string[]> {
  if (process.platform === 'win32') return []
  const tightened: string[] = []
  const wanted: readonly (readonly [path: string, mode: number])[] = [
    [root, 0o700],
    [join(root, ROOT_NAMES.token), 0o600],
    [join(root, ROOT_NAMES.marker), 0o600],
  ]
  for (const [path, mode] of wanted) {
    const found = (await stat(path).catch(() => undefined))?.mode
    if (found === undefined || (found & 0o777 & ~mode) === 0) continue
    await chmod(path, mode)
    tightened.push(`${path} was ${(found & 0o777).toString(8)} and is ${mode.toString(8)} now`)
  }
  return tightened
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
