import { hash } from 'node:crypto'
import { canonicalJson } from '../../schema/canonical.ts'
import type { Actor } from '../../schema/entities/primitives.ts'
import type { DomainEvent, LedgerEvent, LedgerRecord } from '../../schema/events.ts'

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

/** A value as JSON bytes. */
export function encodeJson(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value), 'utf8')
}

/** A value from JSON bytes. */
export function decodeJson<T>(bytes: Uint8Array): T {
  return JSON.parse(decoder.decode(bytes)) as T
}
