import { join } from 'node:path'
import { HeadwaterError, isHeadwaterError } from '../schema/errors.ts'
import { beginLineage, LINEAGE_KEY } from './lineage.ts'
import {
  inspectDatabase,
  type LevelStore,
  type LevelStoreOptions,
  openLevelStore,
  openRegressedStore,
} from './log/level-store.ts'
import { type Anchor, databaseFiles, readAnchor } from './log/root/anchor/anchor.ts'
import { AnchorKeeper, type AnchorLog } from './log/root/anchor/anchor-keeper.ts'
import { keepFiles, keptSets, removeSet } from './log/root/anchor/kept-files.ts'
import { hasLostLog, ReachedMark, readReached } from './log/root/anchor/reached-mark.ts'
import { findRegression, type Regression, RootRegressed } from './log/root/anchor/regression.ts'
import type { RootOwner } from './log/root/owner.ts'
import { makeView } from './log/root/view.ts'
import { migrateRoot } from './migrate/migrate-root.ts'

/** Within one tenure of a root nobody else can write: the root's lock is the fence, so its number never changes. */
const FENCE = 1

/** How a root's database is opened. */
export interface OpenRootOptions {
  /** Told how long each batch took. */
  readonly onBatch?: (seconds: number) => void
  readonly log?: AnchorLog
  /** Take the database as it is, whatever is missing in it, and begin a new lineage. Source: D4. */
  readonly accept?: boolean
}

/** The store of an owned root. */
export interface RootStore extends LevelStore {
  /** Why the database is only read, or null. Source: D4. */
  readonly regression: Regression | null
}

/**
 * Opens the database of an owned root; a new one is created only where the marker says that there was none. A database that is not what was
 * acknowledged is opened as a view that is only read, and stays as it is. Rejects with `storage_fault` where it cannot be read at all.
 * Source: D1, D4, R5, R7, E8.
 */
export async function openRootStore(owner: RootOwner, options: OpenRootOptions = {}): Promise<RootStore> {
  const migrated = await migrateRoot(owner)
  if (migrated !== null) options.log?.warn({ ...migrated }, 'the data root was brought up to a newer format')
  if (!owner.databaseCreated()) return await openFresh(owner, options)
  const { path } = owner.capability
  const anchor = await readAnchor(path)
  const isAsLeft = await wasLeftLikeThis(owner, anchor)
  try {
    if (!isAsLeft && options.accept !== true && (await isSuspicious(owner, anchor))) await inspectView(owner, anchor)
    const kept = await keepFiles(path, options.log)
    const store = await openReal(owner, options, anchor)
    if (isAsLeft && kept !== null) await removeSet(path, kept)
    return store
  } catch (error) {
    if (error instanceof RootRegressed) return await openAsView(owner, error.regression)
    throw withWayOut(error)
  }
}

async function openFresh(owner: RootOwner, options: OpenRootOptions): Promise<RootStore> {
  const store = await openMarked(owner, { ...levelOptions(owner, options), create: true })
  await owner.markDatabaseCreated()
  return await anchored(owner, store, options)
}

async function openReal(
  owner: RootOwner,
  options: OpenRootOptions,
  anchor: Anchor | 'missing' | 'damaged',
): Promise<RootStore> {
  const isAccepted = options.accept === true
  const store = await openMarked(owner, {
    ...levelOptions(owner, options),
    create: false,
    acceptsGaps: isAccepted,
    inspect: facts => {
      const regression = isAccepted ? null : findRegression(anchor, owner.databaseId, facts)
      if (regression !== null) throw new RootRegressed(regression)
    },
  })
  try {
    if (isAccepted || owner.pending !== undefined) await beginPending(owner, store)
    return await anchored(owner, store, options)
  } catch (error) {
    await store.close()
    throw error
  }
}

/** The store, with a mark beside it of how far it is. Source: D4. */
async function openMarked(owner: RootOwner, options: LevelStoreOptions): Promise<LevelStore> {
  let mark: ReachedMark | null = null
  const store = await openLevelStore({
    ...options,
    onReached: (batch, databaseId) => {
      mark ??= new ReachedMark(owner.capability.path, databaseId)
      mark.note(batch)
    },
  })
  const close = store.close.bind(store)
  return Object.assign(store, { close: () => close().finally(() => mark?.close()) })
}

function levelOptions(owner: RootOwner, { onBatch }: OpenRootOptions) {
  return {
    path: owner.databasePath,
    fence: FENCE,
    prove: () => owner.prove(),
    ballastPath: join(owner.capability.path, 'ballast'),
    ...(onBatch === undefined ? {} : { interceptWrite: (write: () => Promise<void>) => timed(write, onBatch) }),
  }
}

async function beginPending(owner: RootOwner, store: LevelStore): Promise<void> {
  await beginLineage(store, { isCopy: owner.pending === 'copied' })
  await owner.setPending(undefined)
}

/** The store with an anchor behind it, which is written anew when a lineage begins. Source: D4. */
async function anchored(owner: RootOwner, store: LevelStore, { log }: OpenRootOptions): Promise<RootStore> {
  const keeper = new AnchorKeeper(owner, store, log)
  await keeper.start()
  const putRootRecord = store.putRootRecord.bind(store)
  const close = store.close.bind(store)
  let closing: Promise<void> | null = null
  return Object.assign(store, {
    regression: null,
    async putRootRecord(key: string, bytes: Uint8Array): Promise<void> {
      await putRootRecord(key, bytes)
      if (key === LINEAGE_KEY) await keeper.write()
    },
    close(): Promise<void> {
      closing ??= close().then(() => keeper.finish())
      return closing
    },
  })
}

/** True after a clean stop, if nothing has touched the database since. */
async function wasLeftLikeThis(owner: RootOwner, anchor: Anchor | 'missing' | 'damaged'): Promise<boolean> {
  if (typeof anchor === 'string' || !anchor.isClean) return false
  return anchor.files === (await databaseFiles(owner.databasePath))
}

/**
 * Reason to look before the database itself is opened: somebody has changed its files or the anchor, files were put aside before, or the
 * newest log is not as long as it was.
 */
async function isSuspicious(owner: RootOwner, anchor: Anchor | 'missing' | 'damaged'): Promise<boolean> {
  const { path } = owner.capability
  if (typeof anchor === 'string') return anchor === 'damaged' || owner.databaseId !== undefined
  if (anchor.isClean || (await keptSets(path)).length > 0) return true
  const reached = await readReached(path)
  return reached !== null && hasLostLog(path, reached)
}

/** Looks at a copy: opening a database changes its files. Throws where it is regressed. */
async function inspectView(owner: RootOwner, anchor: Anchor | 'missing' | 'damaged'): Promise<void> {
  const view = await makeView(owner.capability.path, true)
  try {
    const regression = findRegression(anchor, owner.databaseId, await inspectDatabase(view.databasePath))
    if (regression !== null) throw new RootRegressed(regression)
  } finally {
    await view.remove()
  }
}

async function openAsView(owner: RootOwner, regression: Regression): Promise<RootStore> {
  const view = await makeView(owner.capability.path, true)
  try {
    const store = await openRegressedStore(view.databasePath, regression.message)
    const close = store.close.bind(store)
    return Object.assign(store, { regression, close: () => close().finally(() => view.remove()) })
  } catch (error) {
    await view.remove()
    throw error
  }
}

const DAMAGE = new Set(['missing', 'corruption'])

/** A database that cannot be read at all: nothing can be served, and nothing is written. */
function withWayOut(error: unknown): unknown {
  const isDamage = isHeadwaterError(error) && error.code === 'storage_fault' && DAMAGE.has(String(error.detail?.kind))
  if (!isDamage) return error
  const message = `${error.message}. Nothing was written; put the database of this data root back from a backup (\`headwater doctor\` says more).`
  const fault = new HeadwaterError(error.code, message, error.detail)
  fault.cause = error
  return fault
}

async function timed(write: () => Promise<void>, onBatch: (seconds: number) => void): Promise<void> {
  const startMs = performance.now()
  await write()
  onBatch((performance.now() - startMs) / 1000)
}
