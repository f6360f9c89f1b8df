import { randomBytes } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { HeadwaterError } from '../../schema/errors.ts'
import { LIMITS } from '../../schema/limits.ts'
import type { FailedBatch } from './commit/committer.ts'
import { BATCH_KEY, DATABASE_ID_KEY, FORMAT_KEY, headKey, RING_START_KEY } from './keys.ts'
import { type DatabaseFacts, readBatch, readDatabaseFacts } from './level/batch-ring.ts'
import { DiskRoom } from './level/disk-room.ts'
import { LevelHandle } from './level/level-handle.ts'
import { storageErrorKind, storageFault } from './level/storage-error.ts'
import { type DiskState, StorageGuard } from './level/storage-guard.ts'
import { LogStore } from './log-store.ts'
import type { AppendOutcome, FrozenReader, Store } from './store.ts'
import type { Op } from './table.ts'
import { FrozenTableReader } from './table-reader.ts'
import { decodeHead, decodeNumber, encodeNumber } from './values.ts'

/**
 * Version of what is stored and how its keys are built. A store of a later version is refused as `incompatible`.
 *
 *   1  first
 */
export const STORE_FORMAT = 1

/** Where a database is, who may write it, and what is done around each write. */
export interface LevelStoreOptions {
  readonly path: string
  /** True only until the owner noted that the database was created: an existing one is never opened as new. Source: R7. */
  readonly create: boolean
  /** Number of this leader's epoch: who writes with another one is refused. */
  readonly fence: number
  /** Throws if the root was lost; called once before each batch. Source: R5. */
  readonly prove?: () => void | Promise<void>
  readonly writeBufferSize?: number
  readonly cacheSize?: number
  /** A file of `LIMITS.ballastBytes` that is freed when the disk is full. Source: E8. */
  readonly ballastPath?: string
  /** Runs in the place of each batch's write, which it is given: how tests make a write fail or hang. */
  readonly interceptWrite?: (write: () => Promise<void>) => Promise<void>
  /** Called before anything is written into an existing database; what it throws closes it again and is passed on. Source: D4. */
  readonly inspect?: (facts: DatabaseFacts) => void
  /** Told the number of each batch that is on disk, before anything of it is answered. Must not throw. Source: D4. */
  readonly onReached?: (batch: number, databaseId: string) => void
  /** From now on it does not matter which batches are missing. Source: D4. */
  readonly acceptsGaps?: boolean
}

/** A store on a disk, with what tells one state of it from another. Source: D4. */
export interface LevelStore extends Store {
  /** 32 hex digits, random. */
  readonly databaseId: string
  /** Number of the newest batch known to be on disk. */
  readonly batchNumber: number
}

/**
 * Opens the store of a data root, whose ownership the caller has. When it resolves, a new database is on disk.
 * Rejects with `storage_fault` and the kind of failure in its detail, or with `incompatible`.
 */
export async function openLevelStore(options: LevelStoreOptions): Promise<LevelStore> {
  const room = new DiskRoom(options.path, options.ballastPath)
  const { handle, isFull } = await openHandle(options, room)
  try {
    const { batch, databaseId } = await prepare(handle, options)
    const { onReached } = options
    const reached = onReached === undefined ? undefined : (number: number) => onReached(number, databaseId)
    const store = assemble(options, handle, room, { batch, reached })
    if (isFull) store.startFull()
    else store.startBallast()
    return Object.assign(store.store, { databaseId })
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** What the database of a view says of itself; nothing stays open. Source: D4. */
export async function inspectDatabase(path: string): Promise<DatabaseFacts> {
  const { handle } = await openHandle({ path, create: false }, null)
  try {
    await readFormat(handle)
    return await readDatabaseFacts(handle, await readBatchNumber(handle))
  } finally {
    await handle.close()
  }
}

/** Opens a view whose database is older than what was acknowledged: it is read, and every write is refused. Source: D4. */
export async function openRegressedStore(path: string, message: string): Promise<LevelStore> {
  const { handle } = await openHandle({ path, create: false }, null)
  const facts = await readDatabaseFacts(handle, await readBatchNumber(handle))
  const refusal: AppendOutcome = { kind: 'failed', code: 'root_regressed', message }
  const store = new LogStore({
    table: handle,
    fence: 0,
    batchNumber: facts.batch,
    write: () => Promise.reject(new HeadwaterError('root_regressed', message)),
    settle: async () => ({ kind: 'absent', outcome: refusal }),
    close: () => handle.close(),
  })
  store.setHealth('regressed', refusal)
  return Object.assign(store, { databaseId: facts.databaseId ?? '' })
}

/** Opens a view of a root: a copy of its database that belongs to the caller alone. Rejects as `openLevelStore` does. Source: R9. */
export async function openLevelReader(options: { readonly path: string }): Promise<FrozenReader> {
  const { handle } = await openHandle({ path: options.path, create: false }, null)
  try {
    await readFormat(handle)
    const reader = new FrozenTableReader(await handle.freeze())
    const close = reader.close.bind(reader)
    return Object.assign(reader, { close: () => close().finally(() => handle.close()) })
  } catch (error) {
    await handle.close()
    throw error
  }
}

type OpenOptions = Pick<LevelStoreOptions, 'path' | 'create' | 'writeBufferSize' | 'cacheSize'>

/** With `room`, a full disk gives up its ballast for the open. */
async function openHandle(
  options: OpenOptions,
  room: DiskRoom | null,
): Promise<{ handle: LevelHandle; isFull: boolean }> {
  const sizes = {
    writeBufferBytes: options.writeBufferSize ?? LIMITS.databaseWriteBufferBytes,
    cacheBytes: options.cacheSize ?? LIMITS.databaseCacheBytes,
  }
  if (!options.create) await assertThere(options.path)
  const tryOpen = () => LevelHandle.open(options.path, options.create, sizes)
  try {
    return { handle: await tryOpen(), isFull: false }
  } catch (error) {
    if (room === null || storageErrorKind(error) !== 'full') throw storageFault(error, 'opening the database')
  }
  await room.freeBallast()
  try {
    return { handle: await tryOpen(), isFull: true }
  } catch (error) {
    throw storageFault(error, 'opening the database')
  }
}

/** LevelDB makes the directory also where it then refuses to make a database in it. */
async function assertThere(path: string): Promise<void> {
  try {
    await stat(path)
  } catch (error) {
    throw storageFault(error, 'opening the database')
  }
}

/** Checks the format, or writes it into a new database, and sees to it that the database has an id and a ring. */
async function prepare(
  handle: LevelHandle,
  { create, inspect, acceptsGaps = false }: LevelStoreOptions,
): Promise<{ readonly batch: number; readonly databaseId: string }> {
  const isNew = (await readFormat(handle, create)) === null
  const batch = isNew ? 0 : await readBatchNumber(handle)
  const facts = isNew ? { databaseId: null, batch, missingBatch: null } : await readDatabaseFacts(handle, batch)
  if (!isNew) inspect?.(facts)
  const databaseId = facts.databaseId ?? randomBytes(16).toString('hex')
  const ops: Op[] = []
  if (isNew) {
    ops.push({ key: FORMAT_KEY, value: encodeNumber(STORE_FORMAT) }, { key: BATCH_KEY, value: encodeNumber(0) })
  }
  if (facts.databaseId === null) ops.push({ key: DATABASE_ID_KEY, value: Buffer.from(databaseId, 'hex') })
  if (facts.databaseId === null || acceptsGaps) ops.push({ key: RING_START_KEY, value: encodeNumber(batch + 1) })
  try {
    if (ops.length > 0) await handle.write(ops, 0)
  } catch (error) {
    throw storageFault(error, isNew ? 'creating the database' : 'opening the database')
  }
  return { batch, databaseId }
}

async function readFormat(handle: LevelHandle, isNew = false): Promise<number | null> {
  const value = await handle.get(FORMAT_KEY)
  if (value === undefined) {
    if (isNew) return null
    throw new HeadwaterError('storage_fault', 'the database is empty or lost its first records', { kind: 'missing' })
  }
  const format = decodeNumber(value)
  if (format > STORE_FORMAT) {
    throw new HeadwaterError('incompatible', `the database has format ${format}; this version reads ${STORE_FORMAT}`)
  }
  return format
}

async function readBatchNumber(handle: LevelHandle): Promise<number> {
  const batch = await readBatch(handle)
  if (batch !== undefined) return batch
  throw new HeadwaterError('storage_fault', 'the database lost its batch number', { kind: 'missing' })
}

interface Assembled {
  readonly store: LogStore
  startFull(): void
  startBallast(): void
}

function assemble(
  options: LevelStoreOptions,
  handle: LevelHandle,
  room: DiskRoom,
  { batch, reached }: { readonly batch: number; readonly reached: ((number: number) => void) | undefined },
): Assembled {
  const { fence, prove, interceptWrite } = options
  const guard = new StorageGuard({
    room,
    reopenBytes: () => handle.reopenBytes,
    reopen: () => handle.reopen(),
    isOpen: () => handle.isOpen,
    abandon: () => handle.abandon(),
    compare: failed => compareWithDisk(handle, failed, store.batchNumber),
    onHealth: (health, refusal) => store.setHealth(health, refusal),
    onLateFate: (failed, fate) => store.learnFate(failed, fate),
  })
  let ballast: Promise<unknown> = Promise.resolve()
  const store = new LogStore({
    table: handle,
    fence,
    batchNumber: batch,
    ...(reached === undefined ? {} : { reached }),
    write:
      interceptWrite === undefined
        ? (ops, bytes) => handle.write(ops, bytes)
        : (ops, bytes) => interceptWrite(() => handle.write(ops, bytes)),
    ...(prove === undefined ? {} : { prove }),
    settle: failed => guard.settle(failed),
    close: async () => {
      await guard.stop()
      await ballast
      await handle.close()
    },
  })
  return {
    store,
    startFull: () => guard.startFull(),
    startBallast: () => {
      ballast = room.restoreBallast()
    },
  }
}

/** Batches are atomic, so the batch number alone decides; heads that do not agree with it are damage. */
async function compareWithDisk(
  handle: LevelHandle,
  failed: FailedBatch | null,
  acknowledged: number,
): Promise<DiskState> {
  const onDisk = await readBatchNumber(handle)
  if (failed === null) return onDisk === acknowledged ? 'before' : 'neither'
  if (onDisk !== failed.number && onDisk !== failed.number - 1) return 'neither'
  const state = onDisk === failed.number ? 'after' : 'before'
  for (const move of failed.moves) {
    const head = decodeHead(await handle.get(headKey(move.session)))
    const expected = move[state]
    if (head.revision !== expected.revision || head.update !== expected.update) return 'neither'
  }
  return state
}
