import { canonicalJson, normalizeContent } from '../../schema/canonical.ts'
import { findOperation } from '../../schema/commands/index.ts'
import type { Content } from '../../schema/entities/content.ts'
import { digestOf } from './record.ts'

/**
 * A command's stored outcome. `digest` is of its canonical payload; `result` lacks a TurnSnapshot, which is read when a reply is made:
 * `turn` names it and where it goes. `revision` is the ledger's after the command; absent in receipts of builds that did not note it.
 * Source: A5, D2.
 */
export interface StoredReceipt {
  readonly operation: string
  readonly digest: string
  readonly result: unknown
  readonly revision?: number
  readonly turn?: { readonly turnId: string; readonly as: 'turn' | 'self' }
}

/** The value of the field that identifies a command, or undefined where it is missing. */
export function identityOf(operation: string, input: Readonly<Record<string, unknown>>): string | undefined {
  const field = findOperation(operation)?.identity
  const id = field === undefined ? undefined : input[field]
  return typeof id === 'string' ? id : undefined
}

/** The digest of a command's payload: operation and input, content in canonical form. Source: A5, C2, T6. */
export function payloadDigest(operation: string, input: Readonly<Record<string, unknown>>): string {
  const { originHostEpoch: _epoch, ...rest } = input
  const payload: Record<string, unknown> = rest
  if (payload.content !== undefined) payload.content = normalizeContent(payload.content as Content)
  return digestOf(`${operation}\n${canonicalJson(payload)}`)
}
