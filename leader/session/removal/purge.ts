import type { InteractionSnapshot } from '../../../schema/entities/interaction.ts'
import { LIMITS } from '../../../schema/limits.ts'
import type { ReceiptKey, RowWrite } from '../../log/store.ts'
import { referenceOf } from '../commands/fork-source.ts'
import type { CrashPoint } from '../crash-points.ts'
import type { StoredReceipt } from '../receipts.ts'
import { decodeJson, encodeJson } from '../record.ts'
import { type PurgeRow, purgeId, purgeRow, type TombstoneRow, tombstoneRow } from '../rows/removal-rows.ts'
import { type SegmentReference, sortable } from '../rows.ts'
import { dropUse, type SweepPorts } from './artifact-sweep.ts'
import { collectNames, type NamedThings } from './named-things.ts'

const PAGE_RECORDS = 256

/** What a purge works with. */
export interface PurgePorts extends SweepPorts {
  readonly crash: (point: CrashPoint) => void
  /** The leader stops: what is left is done after the next start. */
  readonly isStopped: () => boolean
}

/** The purge was cut off. */
export class PurgeStopped extends Error {}

/**
 * Removes what a deleted session left. Each step can be cut off anywhere and done again; how far it is stands in its PurgeRow. What forks
 * lead on to stays until the last of them has gone. Source: S5, S6.
 *
 *   children ──▶ named ──▶ records ──▶ space ──▶ done
 */
export class Purge {
  readonly sessionId: string
  readonly #ports: PurgePorts
  #removedArtifacts: readonly string[] | null = []

  constructor(ports: PurgePorts, sessionId: string) {
    this.#ports = ports
    this.sessionId = sessionId
  }

  /** The artifacts that went with the session; null where they are too many to be known. */
  get removedArtifacts(): readonly string[] | null {
    return this.#removedArtifacts
  }

  /** Everything but giving the disk space back. Gives the session this one was forked from, if that may be purged further now. */
  async run(): Promise<string | null> {
    const { store } = this.#ports
    const bytes = await store.row('tombstone', '', purgeId(this.sessionId))
    if (bytes === undefined) return null
    let row = decodeJson<PurgeRow>(bytes)
    if (row.step === 'children') row = await this.#enter({ ...row, step: 'named', artifacts: [] })
    const { artifacts = null } = row
    this.#removedArtifacts = artifacts
    if (row.step === 'named') {
      const sourceSessionId = row.sourceSessionId ?? (await referenceOf(store, this.sessionId))?.sourceSessionId
      await this.#removeNamed(row)
      row = await this.#enter({
        ...row,
        step: 'records',
        artifacts: this.#removedArtifacts,
        ...(sourceSessionId === undefined ? {} : { sourceSessionId }),
      })
    }
    if (row.step === 'records') {
      await this.#removeRecords(row)
      row = await this.#enter({ ...row, step: 'space' })
    }
    return row.sourceSessionId ?? null
  }

  /** Its bytes leave the disk; then the purge is done. */
  async giveSpaceBack(): Promise<void> {
    await this.#ports.store.squeeze(this.sessionId)
    await this.#write([purgeRow(this.sessionId, null)])
  }

  /** Goes on with a session of which something was kept, if nothing leads there any more. Gives true if so. Source: S6. */
  async reopen(): Promise<boolean> {
    const tombstone = await this.#tombstone()
    if (tombstone === undefined) return false
    const { keptThrough, sourceSessionId, receipt } = tombstone
    if (keptThrough === undefined || (await this.#keptThrough()) !== null) return false
    await this.#write([
      purgeRow(this.sessionId, {
        step: 'named',
        artifacts: [],
        ...(receipt === undefined ? {} : { receipt }),
        ...(sourceSessionId === undefined ? {} : { sourceSessionId }),
      }),
    ])
    return true
  }

  /** True when nothing of the session is kept for a fork. Source: S6. */
  async isWhole(): Promise<boolean> {
    return (await this.#tombstone())?.keptThrough === undefined
  }

  async #tombstone(): Promise<TombstoneRow | undefined> {
    const bytes = await this.#ports.store.row('tombstone', '', this.sessionId)
    return bytes === undefined ? undefined : decodeJson<TombstoneRow>(bytes)
  }

  async #enter(row: PurgeRow): Promise<PurgeRow> {
    await this.#write([purgeRow(this.sessionId, row)])
    return row
  }

  async #write(rows: readonly RowWrite[]): Promise<void> {
    this.#step()
    await this.#ports.store.putRows(this.sessionId, rows)
    this.#ports.crash('mid_delete')
  }

  #step(): void {
    if (this.#ports.isStopped()) throw new PurgeStopped()
  }

  /** What the ledger and the sealed transcript name, page by page: rows of interactions, uses of artifacts. */
  async #removeNamed(row: PurgeRow): Promise<void> {
    const { store } = this.#ports
    const kept = await this.#keptThrough()
    const keptArtifacts = kept === null ? new Set<string>() : await this.#artifactsThrough(kept)
    for (let after = 0; ; ) {
      const page = await store.ledger(this.sessionId, after, PAGE_RECORDS)
      const names = await this.#removeInteractions(page.map(({ bytes }) => bytes))
      await this.#removeArtifacts(row, names, keptArtifacts)
      const last = page.at(-1)
      if (last === undefined) break
      after = last.revision
    }
    for await (const bytes of this.#segments()) {
      await this.#removeArtifacts(row, await this.#removeInteractions([bytes]), keptArtifacts)
    }
  }

  /** Gives what the values name. */
  async #removeInteractions(values: readonly Uint8Array[]): Promise<NamedThings> {
    const { store } = this.#ports
    const names: NamedThings = { artifacts: new Set(), interactions: new Set() }
    for (const bytes of values) collectNames(readable(bytes), names)
    const rows: RowWrite[] = []
    for (const id of names.interactions) {
      const row = await store.row('interaction', '', id)
      const isOurs = row !== undefined && decodeJson<InteractionSnapshot>(row).sessionId === this.sessionId
      if (isOurs) rows.push({ kind: 'interaction', id, value: null })
    }
    this.#step()
    if (rows.length > 0) await this.#write(rows)
    return names
  }

  /** What goes is noted with its removal, so that a purge that is cut off still knows whose place to give back. */
  async #removeArtifacts(row: PurgeRow, names: NamedThings, kept: ReadonlySet<string>): Promise<void> {
    const { sessionId } = this
    for (const hash of names.artifacts) {
      this.#step()
      if (kept.has(hash)) continue
      const artifacts = this.#removedWith(hash)
      const noted = [purgeRow(sessionId, { ...row, artifacts })]
      if (await dropUse(this.#ports, { hash, sessionId, noted })) this.#removedArtifacts = artifacts
    }
  }

  #removedWith(hash: string): readonly string[] | null {
    const removed = this.#removedArtifacts
    return removed === null || removed.length >= LIMITS.purgeArtifacts ? null : [...removed, hash]
  }

  async *#segments(through?: string): AsyncGenerator<Uint8Array> {
    const { store } = this.#ports
    for (let after = ''; ; ) {
      const [row] = await store.rows('segment', this.sessionId, { limit: 1, ...(after === '' ? {} : { after }) })
      if (row === undefined || (through !== undefined && row.id > through)) return
      yield row.value
      after = row.id
    }
  }

  async #artifactsThrough(through: string): Promise<ReadonlySet<string>> {
    const names: NamedThings = { artifacts: new Set(), interactions: new Set() }
    for await (const bytes of this.#segments(through)) collectNames(readable(bytes), names)
    return names.artifacts
  }

  /** The last id of the segments that forks lead on to, or null. */
  async #keptThrough(): Promise<string | null> {
    const prefix = `${this.sessionId}.`
    let through = 0
    for (let after = prefix; ; ) {
      const page = await this.#ports.store.rows('fork', '', { after, limit: PAGE_RECORDS })
      const forks = page.filter(({ id }) => id.startsWith(prefix))
      for (const { value } of forks) {
        through = Math.max(through, decodeJson<Pick<SegmentReference, 'through'>>(value).through)
      }
      const last = forks.at(-1)
      if (last === undefined || forks.length < PAGE_RECORDS) return through === 0 ? null : sortable(through)
      after = last.id
    }
  }

  /** The header that was given when the session was made begins with what was said in it: its title. That it was made is enough. */
  async #forgetResult(key: ReceiptKey): Promise<void> {
    const { store } = this.#ports
    const body = await store.receipt(this.sessionId, key.operation, key.id)
    if (body === undefined) return
    const { result, ...rest } = decodeJson<StoredReceipt>(body)
    if (result === null) return
    this.#step()
    await store.putReceipt(this.sessionId, { ...key, body: encodeJson({ ...rest, result: null }) })
  }

  async #removeRecords(row: PurgeRow): Promise<void> {
    const { store } = this.#ports
    const segmentsThrough = await this.#keptThrough()
    const making = makingReceipts(this.sessionId)
    for (const key of making) await this.#forgetResult(key)
    const keep = { receipts: row.receipt === undefined ? making : [...making, row.receipt], segmentsThrough }
    for (let isDone = false; !isDone; ) {
      this.#step()
      isDone = await store.purge(this.sessionId, keep, LIMITS.purgeRecords)
      this.#ports.crash('mid_delete')
    }
    const { deletedAt = 0 } = (await this.#tombstone()) ?? {}
    const { step: _, artifacts: __, ...kept } = row
    if (segmentsThrough !== null) {
      await this.#write([tombstoneRow(this.sessionId, { deletedAt, keptThrough: segmentsThrough, ...kept })])
      return
    }
    const { sourceSessionId } = kept
    const rows = [tombstoneRow(this.sessionId, { deletedAt })]
    if (sourceSessionId !== undefined) {
      rows.push({ kind: 'fork', id: `${sourceSessionId}.${this.sessionId}`, value: null })
    }
    await this.#write(rows)
  }
}

/** What may have made a session. With its deletion it stays known. Source: S5. */
function makingReceipts(sessionId: string): readonly ReceiptKey[] {
  return ['session.create', 'session.fork'].map(operation => ({ operation, id: sessionId }))
}

/** A record that cannot be read names nothing. */
function readable(bytes: Uint8Array): unknown {
  try {
    return decodeJson(bytes)
  } catch {
    return null
  }
}
