import { hash } from 'node:crypto'
import { canonicalJson } from '../../schema/canonical.ts'
import type { Actor } from '../../schema/entities/primitives.ts'
import type { DomainEvent, EventPayloads, LedgerEvent, LedgerRecord } from '../../schema/events.ts'

const decoder = new TextDecoder('utf-8', { fatal: true })

/** What a record says beside its place in the chain. */
export interface RecordFacts {
  readonly revision: number
  readonly epochNumber: number
  readonly at: number
  readonly actor: Actor
  readonly events: readonly (DomainEvent | LedgerEvent)[]
  readonly prevHash: string
}

/** `sha256:<hex>` of a text's UTF-8 bytes. */
export function digestOf(text: string): string {
  return `sha256:${hash('sha256', text, 'hex')}`
}

/**
 * The bytes of a ledger record and its hash: canonical JSON, hashed without its `hash` member. `hash` sorts between `events` and
 * `prevHash`, so the canonical text is made once and the hash is put in its place. Source: A8, L1.
 */
export function encodeRecord(facts: RecordFacts): { readonly bytes: Uint8Array; readonly hash: string } {
  const { actor, at, epochNumber, events, prevHash, revision } = facts
  const head = `{"actor":${canonicalJson(actor)},"at":${at},"epochNumber":${epochNumber},"events":${canonicalJson(events)},`
  const tail = `"prevHash":${JSON.stringify(prevHash)},"revision":${revision}}`
  const digest = digestOf(head + tail)
  return { bytes: Buffer.from(`${head}"hash":"${digest}",${tail}`, 'utf8'), hash: digest }
}

/** Reads a record's bytes; throws SyntaxError or TypeError where they are no record. Its chain is checked by `verify`. */
export function decodeRecord(bytes: Uint8Array): LedgerRecord {
  return JSON.parse(decoder.decode(bytes)) as LedgerRecord
}

/** The hash a record should have. Source: A8. */
export function hashOf(record: LedgerRecord): string {
  const { hash: _hash, ...facts } = record
  return digestOf(canonicalJson(facts))
}

/** What a checkpoint keeps beside its place in the chain: the folded state, and where recovery would start to read. */
export interface CheckpointFacts {
  readonly state: object
  readonly active: object | null
}

/**
 * The bytes of a checkpoint in the place of a record. It keeps that record's hashes, so that the chain around it still fits; a digest of its
 * own says whether it is whole. Source: L6.
 */
export function encodeCheckpoint(record: LedgerRecord, facts: CheckpointFacts): Uint8Array {
  const { state, active } = JSON.parse(JSON.stringify(facts)) as CheckpointFacts
  const events = [{ type: 'ledger_compacted', payload: { state, active, digest: '' } }]
  const unsealed = canonicalJson({ ...record, events })
  const payload = { state, active, digest: digestOf(unsealed) }
  return Buffer.from(canonicalJson({ ...record, events: [{ type: 'ledger_compacted', payload }] }), 'utf8')
}

/** The payload of a checkpoint; null for any other record. */
export function checkpointOf(record: LedgerRecord): EventPayloads['ledger_compacted'] | null {
  const [event] = record.events
  return event?.type === 'ledger_compacted' ? (event.payload as EventPayloads['ledger_compacted']) : null
}

/** True for a record that is what its hash, or a checkpoint's own digest, says. `bytes` are the ones it was read from. Source: A8, L6. */
export function isGenuine(record: LedgerRecord, bytes: Uint8Array): boolean {
  const checkpoint = checkpointOf(record)
  if (checkpoint !== null) {
    const unsealed = { ...record, events: [{ type: 'ledger_compacted', payload: { ...checkpoint, digest: '' } }] }
    return digestOf(canonicalJson(unsealed)) === checkpoint.digest
  }
  // As we write it, the text without its hash is what was hashed; anything else is brought into canonical form first.
  const text = decoder.decode(bytes)
  const member = `"hash":"${record.hash}",`
  const at = text.lastIndexOf(`${member}"prevHash":`)
  const bare = at < 0 ? text : text.slice(0, at) + text.slice(at + member.length)
  return digestOf(bare) === record.hash || hashOf(record) === record.hash
}

/** A value as JSON bytes. */
export function encodeJson(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value), 'utf8')
}

/** A value from JSON bytes. */
export function decodeJson<T>(bytes: Uint8Array): T {
  return JSON.parse(decoder.decode(bytes)) as T
}
