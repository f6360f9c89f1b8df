import { canonicalJson } from '../../../schema/canonical.ts'
import type { TranscriptEntry } from '../../../schema/entities/transcript.ts'
import { HeadwaterError } from '../../../schema/errors.ts'
import type { LedgerRecord } from '../../../schema/events.ts'
import { GENESIS_HASH } from '../../../schema/ids.ts'
import { LIMITS } from '../../../schema/limits.ts'
import type { AppendOutcome, RowWrite, Store } from '../../log/store.ts'
import { checkpointOf, encodeJson, hashOf, isGenuine } from '../../session/record.ts'
import { collectNames, type NamedThings } from '../../session/removal/named-things.ts'
import { sortable } from '../../session/rows.ts'
import type { ImportHead } from './import-item.ts'

/** A session that is being written, and by which right. */
export interface ImportTarget {
  readonly store: Store
  readonly head: ImportHead
  readonly fence: number
}

/** What comes in is no session as it was exported. */
export function refused(message: string, detail?: Readonly<Record<string, unknown>>): HeadwaterError {
  return new HeadwaterError('invalid_request', message, detail)
}

/** Throws what a write that did not happen means. */
export function assertStored(outcome: AppendOutcome): void {
  if (outcome.kind === 'committed') return
  if (outcome.kind === 'failed') throw new HeadwaterError(outcome.code, outcome.message)
  throw new HeadwaterError(outcome.kind === 'full' ? 'storage_full' : 'persistence_failed')
}

/** Takes the records of a ledger in order, proves each and writes them batch by batch; nobody sees them yet. Source: A8, L6. */
export class IncomingLedger {
  readonly #target: ImportTarget
  /** Artifacts that the fold does not tell: those of a checkpoint and of the entries before it. */
  readonly named: NamedThings = { artifacts: new Set(), interactions: new Set() }
  #revision = 0
  #hash = GENESIS_HASH
  #records = 0
  #waiting: { readonly revision: number; readonly bytes: Uint8Array }[] = []
  #waitingBytes = 0

  constructor(target: ImportTarget) {
    this.#target = target
  }

  get count(): number {
    return this.#records
  }

  /** Throws `invalid_request` for a record that is not the next one, or not what its hash says. */
  async take(record: LedgerRecord): Promise<void> {
    const bytes = Buffer.from(canonicalJson(record), 'utf8')
    this.#prove(record, bytes)
    this.#revision = record.revision
    this.#hash = record.hash
    this.#records += 1
    this.#waiting.push({ revision: record.revision, bytes })
    this.#waitingBytes += bytes.length
    const isFull = this.#waiting.length >= LIMITS.batchTransitions || this.#waitingBytes >= LIMITS.batchBytes / 2
    if (isFull) await this.#write()
  }

  /** Sealed entries from before the first record. */
  async takeEntries(entries: readonly TranscriptEntry[]): Promise<void> {
    const { store, head } = this.#target
    collectNames(entries, this.named)
    const rows: RowWrite[] = []
    for (let i = 0; i < entries.length; i += LIMITS.segmentEntries) {
      const part = entries.slice(i, i + LIMITS.segmentEntries)
      rows.push({
        kind: 'segment',
        id: sortable((part[0] as TranscriptEntry).seq),
        value: encodeJson({ entries: part }),
      })
    }
    await store.putRows(head.sessionId, rows)
  }

  /** Writes what is left. Throws `invalid_request` where the records do not end as was said. */
  async end(): Promise<void> {
    const { revision, hash } = this.#target.head
    if (this.#revision !== revision) throw refused(`the records end at revision ${this.#revision}, not at ${revision}`)
    if (this.#hash !== hash) throw refused('the last record has another hash than the first line says')
    await this.#write()
  }

  #prove(record: LedgerRecord, bytes: Uint8Array): void {
    const next = this.#revision + 1
    const checkpoint = checkpointOf(record)
    const isFirst = this.#records === 0
    if (record.revision !== next && !(isFirst && checkpoint !== null)) {
      throw refused(`record ${next} is missing; here is record ${record.revision}`)
    }
    if (checkpoint !== null && !isFirst) throw refused(`the checkpoint ${record.revision} stands behind other records`)
    if (record.revision === next && record.prevHash !== this.#hash) {
      throw refused(`record ${record.revision} does not follow on from the one before`)
    }
    // Brought into canonical form: what is hashed is what is stored.
    const isWhole = checkpoint === null ? hashOf(record) === record.hash : isGenuine(record, bytes)
    if (!isWhole) throw refused(`record ${record.revision} is not what its hash says`)
    if (checkpoint !== null) collectNames(checkpoint.state, this.named)
  }

  async #write(): Promise<void> {
    if (this.#waiting.length === 0) return
    const { store, head, fence } = this.#target
    const records = this.#waiting
    this.#waiting = []
    this.#waitingBytes = 0
    assertStored(await store.putRecords(head.sessionId, fence, records))
  }
}
