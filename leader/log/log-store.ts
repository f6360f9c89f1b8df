import { type ErrorCode, HeadwaterError } from '../../schema/errors.ts'
import { LIMITS } from '../../schema/limits.ts'
import { Claims } from './commit/claims.ts'
import { Committer, type CommitterPorts, type FailedBatch } from './commit/committer.ts'
import { ownershipLost } from './commit/outcomes.ts'
import { bytesOf, type Part, stage } from './commit/stage.ts'
import {
  artifactKey,
  assertKeyPart,
  DATABASE_PARTS,
  endsOf,
  headKey,
  type KeyRange,
  ledgerKey,
  ledgerRange,
  pieceKey,
  pieceRange,
  receiptKey,
  rootRecordKey,
  rowKey,
  sessionRanges,
  sharedRanges,
  snapshotKey,
  trimKey,
  updateKey,
  updateRange,
} from './keys.ts'
import { OpenReaders } from './open-readers.ts'
import { purgedKeys } from './purged-keys.ts'
import type {
  Acquired,
  AppendItem,
  AppendOutcome,
  FrozenReader,
  PurgeKeep,
  Receipt,
  RowWrite,
  SessionRewrite,
  Store,
  StoredDocument,
  StoreHealth,
} from './store.ts'
import type { Op, Table } from './table.ts'
import { FrozenTableReader, TableReader } from './table-reader.ts'
import { encodeArtifact, encodeHead, encodeNumber, encodeSnapshot } from './values.ts'

type StoredSnapshot = NonNullable<StoredDocument['snapshot']>

/** What a store stands on: a table to read, and a way to write that tells the truth. */
export interface LogStorePorts extends Pick<CommitterPorts, 'batchNumber' | 'write' | 'prove' | 'settle' | 'reached'> {
  readonly table: Table
  readonly fence: number
  /** Who else serves a session, where that is so. */
  holder?(session: string): { readonly by: string; readonly url: string } | undefined
  /** Ends what writes and reads stand on. Called once, when nothing is in flight. */
  close(): Promise<void>
}

/** The head of a session that is not there. */
const NOWHERE = Object.freeze({ revision: 0, update: 0 })

const CLOSED: AppendOutcome = { kind: 'failed', code: 'invalid_lease', message: 'the store is closed' }

/** Sessions in a table, written by one committer. Everything that is stored goes through it, in one order. Source: A2, A3. */
export class LogStore extends TableReader implements Store {
  readonly #ports: LogStorePorts
  readonly #claims: Claims
  readonly #readers = new OpenReaders()
  readonly #committer: Committer
  readonly #healthListeners = new Set<(health: StoreHealth) => void>()
  readonly #lostListeners = new Set<(session: string) => void>()
  #health: StoreHealth = 'ok'
  #closed: Promise<void> | null = null

  constructor(ports: LogStorePorts) {
    super(ports.table)
    this.#ports = ports
    this.#claims = new Claims(ports.table, ports.fence)
    this.#committer = new Committer({
      claims: this.#claims,
      batchNumber: ports.batchNumber,
      write: ports.write,
      ...(ports.prove === undefined ? {} : { prove: ports.prove }),
      ...(ports.reached === undefined ? {} : { reached: ports.reached }),
      settle: ports.settle,
      lost: error => this.#loseRoot(error),
    })
  }

  get health(): StoreHealth {
    return this.#health
  }

  /** Number of the newest batch known to be on disk. */
  get batchNumber(): number {
    return this.#committer.batchNumber
  }

  on(event: 'health', listener: (health: StoreHealth) => void): () => void
  on(event: 'lost', listener: (session: string) => void): () => void
  on(
    ...[event, listener]:
      | [event: 'health', listener: (health: StoreHealth) => void]
      | [event: 'lost', listener: (session: string) => void]
  ): () => void {
    if (event === 'health') {
      this.#healthListeners.add(listener)
      return () => this.#healthListeners.delete(listener)
    }
    this.#lostListeners.add(listener)
    return () => this.#lostListeners.delete(listener)
  }

  async acquire(session: string): Promise<Acquired> {
    assertKeyPart(session)
    const holder = this.#ports.holder?.(session)
    if (holder !== undefined) return { kind: 'held', ...holder }
    const { fence, head } = await this.#claims.take(session)
    return { kind: 'owned', fence, head }
  }

  async release(session: string): Promise<void> {
    this.#claims.drop(session)
  }

  async append(
    items: readonly AppendItem[],
    options: { readonly atomic?: boolean } = {},
  ): Promise<readonly AppendOutcome[]> {
    if (this.#closed !== null) return items.map(() => CLOSED)
    const first = items[0]
    if (first === undefined) return []
    if (items.length === 1) return await this.#committer.submit(stage(items))
    if (options.atomic !== true) {
      const writes = items.map(item => stage([item]))
      return (await Promise.all(writes.map(write => this.#committer.submit(write)))).flat()
    }
    if (new Set(items.map(item => item.session)).size < items.length) {
      throw new RangeError('an atomic group has one item for each session')
    }
    return await this.#committer.submit(stage(items))
  }

  /** The document log through `through` must be on disk. */
  async compact(session: string, fence: number, snapshot: StoredSnapshot): Promise<AppendOutcome> {
    if (this.#closed !== null) return CLOSED
    const claim = this.#claims.get(session)
    if (claim === undefined || claim.fence !== fence) return { kind: 'fenced' }
    if (snapshot.through > claim.head.update) {
      throw new RangeError(`a snapshot through ${snapshot.through} of a log that ends at ${claim.head.update}`)
    }
    const range = updateRange(session, snapshot.through)
    const keys = await this.#ports.table.keys({ ...range, limit: snapshot.through + 1 })
    const ops: Op[] = [{ key: snapshotKey(session), value: encodeSnapshot(snapshot) }]
    for (const key of keys) ops.push({ key, value: null })
    return await this.#submit(session, fence, ops)
  }

  async putCheckpoint(
    session: string,
    fence: number,
    { revision, bytes }: { readonly revision: number; readonly bytes: Uint8Array },
  ): Promise<AppendOutcome> {
    if (this.#closed !== null) return CLOSED
    const claim = this.#claims.get(session)
    if (claim === undefined || claim.fence !== fence) return { kind: 'fenced' }
    if (revision < 1 || revision >= claim.head.revision) {
      throw new RangeError(`a checkpoint at ${revision} of a ledger that ends at ${claim.head.revision}`)
    }
    return await this.#submit(session, fence, [
      { key: ledgerKey(session, revision), value: bytes },
      { key: trimKey(session), value: encodeNumber(revision) },
    ])
  }

  /** From the newest down: a reader that began before them finds the oldest ones and then the checkpoint, never a gap that reads as damage. */
  async trimLedger(
    session: string,
    fence: number,
    limit: number,
  ): Promise<{ readonly outcome: AppendOutcome; readonly isDone: boolean }> {
    if (this.#closed !== null) return { outcome: CLOSED, isDone: false }
    const checkpoint = (await this.untrimmed(session)) ?? 0
    const range = { gte: ledgerRange(session, 0).gte, lt: ledgerKey(session, checkpoint) }
    const keys = await this.#ports.table.keys({ ...range, limit: limit + 1, reverse: true })
    const isDone = keys.length <= limit
    const ops: Op[] = keys.slice(0, limit).map(key => ({ key, value: null }))
    if (isDone) ops.push({ key: trimKey(session), value: null })
    return { outcome: await this.#submit(session, fence, ops), isDone }
  }

  async rewrite(session: string, fence: number, rewrite: SessionRewrite): Promise<AppendOutcome> {
    if (this.#closed !== null) return CLOSED
    const { head, snapshot, recordsThrough, updatesThrough, droppedReceipts } = rewrite
    const gone: string[] = droppedReceipts.map(({ operation, id }) => receiptKey(session, operation, id))
    for (let revision = head.revision + 1; revision <= recordsThrough; revision++)
      gone.push(ledgerKey(session, revision))
    for (let number = 1; number <= updatesThrough; number++) gone.push(updateKey(session, number))
    const outcome = await this.#submit(session, fence, [
      { key: headKey(session), value: encodeHead(head) },
      { key: snapshotKey(session), value: encodeSnapshot(snapshot) },
      ...gone.map(key => ({ key, value: null })),
    ])
    this.#claims.drop(session)
    return outcome
  }

  async squeeze(session: string): Promise<void> {
    await this.#squeeze(sessionRanges(session))
  }

  async squeezeShared(artifacts: readonly string[] | null): Promise<void> {
    await this.#squeeze(sharedRanges(artifacts))
  }

  /**
   * Twice: what was written and deleted lately may come to lie in one table with its deletion, out of the reach of the first pass. Deleting
   * keys that nothing has makes the second pass take that table up.
   */
  async #squeeze(ranges: readonly KeyRange[]): Promise<void> {
    // What somebody still reads would stay.
    await this.#readers.whenClosed()
    await this.#squeezeOnce(ranges)
    await this.#putAll(ranges.flatMap(endsOf).map(key => ({ key, value: null })))
    await this.#squeezeOnce(ranges)
  }

  /** A store that is closed meanwhile is not held up by more than one range. */
  async #squeezeOnce(ranges: readonly KeyRange[]): Promise<void> {
    for (const range of ranges) if (this.#closed === null) await this.#ports.table.squeeze(range)
  }

  async putRecords(
    session: string,
    fence: number,
    records: readonly { readonly revision: number; readonly bytes: Uint8Array }[],
  ): Promise<AppendOutcome> {
    if (this.#closed !== null) return CLOSED
    this.#assertAbsent(session)
    const ops = records.map(({ revision, bytes }) => ({ key: ledgerKey(session, revision), value: bytes }))
    return await this.#submit(session, fence, ops)
  }

  async found(
    session: string,
    fence: number,
    { revision, snapshot, rows }: Parameters<Store['found']>[2],
  ): Promise<AppendOutcome> {
    if (this.#closed !== null) return CLOSED
    this.#assertAbsent(session)
    const ops: Op[] = [{ key: snapshotKey(session), value: encodeSnapshot(snapshot) }, ...rowOps(session, rows)]
    const next = { revision, update: snapshot.through }
    return await this.#submit(session, fence, ops, { expected: NOWHERE, next })
  }

  /** Overwriting a ledger would be a loss that reads as sound. */
  #assertAbsent(session: string): void {
    const { revision, update } = this.#claims.get(session)?.head ?? NOWHERE
    if (revision > 0 || update > 0) throw new RangeError(`the session ${session} is there already`)
  }

  async putRows(session: string, rows: readonly RowWrite[]): Promise<void> {
    await this.#putAll(rowOps(session, rows))
  }

  async putReceipt(session: string, { operation, id, body }: Receipt): Promise<void> {
    await this.#put({ key: receiptKey(session, operation, id), value: body })
  }

  async purge(session: string, keep: PurgeKeep, limit: number): Promise<boolean> {
    assertKeyPart(session)
    const { keys, isAll } = await purgedKeys(this.#ports.table, session, keep, limit)
    await this.#putAll(keys.map(key => ({ key, value: null })))
    return isAll
  }

  async removeArtifact(hash: string, rows: readonly RowWrite[]): Promise<void> {
    assertKeyPart(hash)
    const pieces = await this.#ports.table.keys({ ...pieceRange(hash), limit: LIMITS.artifactPieces })
    const keys = [artifactKey(hash), ...pieces]
    await this.#putAll([...keys.map(key => ({ key, value: null })), ...rowOps('', rows)])
  }

  async freeze(): Promise<FrozenReader> {
    return new FrozenTableReader(this.#readers.track(await this.#ports.table.freeze()))
  }

  async sizes(): Promise<Readonly<Record<string, number>>> {
    const sizes: Record<string, number> = {}
    for (const [part, range] of Object.entries(DATABASE_PARTS)) sizes[part] = await this.#ports.table.sizeOf(range)
    return sizes
  }

  async putArtifactPiece(hash: string, index: number, bytes: Uint8Array): Promise<void> {
    assertKeyPart(hash)
    await this.#put({ key: pieceKey(hash, index), value: bytes })
  }

  async putArtifact(hash: string, meta: { readonly bytes: number; readonly mimeType: string }): Promise<void> {
    assertKeyPart(hash)
    await this.#put({ key: artifactKey(hash), value: encodeArtifact(meta) })
  }

  async putRootRecord(key: string, bytes: Uint8Array): Promise<void> {
    assertKeyPart(key)
    await this.#put({ key: rootRecordKey(key), value: bytes })
  }

  /** Waits for what was given before, then closes. Idempotent; what comes later is refused with `invalid_lease`. */
  close(): Promise<void> {
    this.#closed ??= this.#committer.idle().then(() => this.#ports.close())
    return this.#closed
  }

  /** Sets what the store says of itself, and what it answers writes with from now on. */
  setHealth(health: StoreHealth, refusal: AppendOutcome | null): void {
    this.#committer.refuse(refusal)
    if (health === this.#health) return
    this.#health = health
    for (const listener of this.#healthListeners) listener(health)
  }

  /** A batch whose items were told `unknown` is known to be stored, or not. A claim taken meanwhile ends if its head is past. */
  learnFate(failed: FailedBatch, fate: 'committed' | 'absent'): void {
    if (fate === 'absent') return
    this.#committer.adopt(failed)
    for (const { session, after } of failed.moves) {
      const head = this.#claims.get(session)?.head
      if (head?.revision !== after.revision || head.update !== after.update) this.loseClaim(session)
    }
  }

  /** Ends a session's claim and says so. */
  loseClaim(session: string): void {
    if (!this.#claims.drop(session)) return
    for (const listener of this.#lostListeners) listener(session)
  }

  /** Writes into a claimed session; without `move` its head stays. */
  async #submit(
    session: string,
    fence: number,
    ops: readonly Op[],
    move: Pick<Part, 'expected' | 'next'> = { expected: null, next: null },
  ): Promise<AppendOutcome> {
    const part = { session, fence, ...move }
    const [outcome] = await this.#committer.submit({
      parts: [part],
      ops,
      rows: [],
      bytes: bytesOf(ops),
      transitions: 1,
    })
    return outcome ?? CLOSED
  }

  async #put(op: Op): Promise<void> {
    await this.#putAll([op])
  }

  async #putAll(ops: readonly Op[]): Promise<void> {
    if (this.#closed !== null) throw new HeadwaterError('invalid_lease', 'the store is closed')
    if (ops.length === 0) return
    const [outcome] = await this.#committer.submit({ parts: [], ops, rows: [], bytes: bytesOf(ops), transitions: 1 })
    if (outcome !== undefined && outcome.kind !== 'committed') throw refusalError(outcome)
  }

  #loseRoot(error: unknown): void {
    this.setHealth('fault', ownershipLost(error))
    for (const session of this.#claims.sessions()) this.loseClaim(session)
  }
}

function rowOps(session: string, rows: readonly RowWrite[]): Op[] {
  return rows.map(({ kind, id, value }) => ({ key: rowKey(kind, session, id), value }))
}

function refusalError(outcome: Exclude<AppendOutcome, { kind: 'committed' }>): HeadwaterError {
  if (outcome.kind === 'failed') return new HeadwaterError(outcome.code, outcome.message)
  const codes: { readonly [K in typeof outcome.kind]: ErrorCode } = {
    full: 'storage_full',
    unknown: 'outcome_unknown',
    fenced: 'invalid_lease',
    conflict: 'operation_conflict',
  }
  return new HeadwaterError(codes[outcome.kind])
}
