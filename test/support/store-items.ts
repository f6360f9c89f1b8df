import { expect } from 'vitest'
import type { AppendItem, SessionHead, Store, StoredTransition } from '../../leader/log/store.ts'

/** The fence of the stores that the suites open. */
export const SUITE_FENCE = 7

/** The head of a session that is not there. */
export const NOTHING: SessionHead = { revision: 0, update: 0 }

/** Text as the bytes that a store keeps. */
export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

/** The text of stored bytes. */
export function textOf(bytes: Uint8Array | undefined): string | undefined {
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes)
}

/** A transition on top of `head` whose record and update say where they belong. */
export function nextTransition(head: SessionHead, more: Partial<StoredTransition> = {}): StoredTransition {
  const revision = head.revision + 1
  const number = head.update + 1
  return {
    record: { revision, bytes: bytesOf(`record ${revision}`) },
    update: { number, bytes: bytesOf(`update ${number}`) },
    ...more,
  }
}

/** The head after `count` such transitions. */
export function after(head: SessionHead, count = 1): SessionHead {
  return { revision: head.revision + count, update: head.update + count }
}

/** An item of `count` such transitions. */
export function itemOf(
  session: string,
  head: SessionHead,
  count = 1,
  more: Partial<StoredTransition> = {},
): AppendItem {
  const transitions = Array.from({ length: count }, (_, index) => nextTransition(after(head, index), more))
  return { session, fence: SUITE_FENCE, expectedHead: head, transitions }
}

/** Claims sessions. */
export async function own(store: Store, ...sessions: readonly string[]): Promise<void> {
  for (const session of sessions) {
    expect(await store.acquire(session)).toMatchObject({ kind: 'owned', fence: SUITE_FENCE })
  }
}

/** A session's ledger as texts. */
export async function ledgerTexts(store: Store, session: string): Promise<(string | undefined)[]> {
  return (await store.ledger(session, 0, 1_000)).map(record => textOf(record.bytes))
}

/** How a store under test is opened, on a place of its own for each test. */
export interface StoreBed {
  open(options?: { readonly prove?: () => void }): Promise<Store>
}
