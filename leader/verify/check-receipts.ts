import type { ReceiptKey, StoreReader } from '../log/store.ts'
import type { StoredReceipt } from '../session/receipts.ts'
import { decodeJson } from '../session/record.ts'

const PAGE_RECEIPTS = 256

/** A receipt as it is stored; `receipt` is null where it cannot be read. */
export interface FoundReceipt extends ReceiptKey {
  readonly receipt: StoredReceipt | null
}

/** All receipts of a session, a few at a time. What they say cannot be derived: it can only be read or not. Source: A5, D2. */
export async function* scanReceipts(store: StoreReader, sessionId: string): AsyncGenerator<FoundReceipt> {
  for (let cursor: ReceiptKey | undefined; ; ) {
    const keys = await store.receiptKeys(sessionId, cursor, PAGE_RECEIPTS)
    for (const key of keys) yield { ...key, receipt: await readReceipt(store, sessionId, key) }
    cursor = keys.at(-1)
    if (cursor === undefined) return
  }
}

async function readReceipt(store: StoreReader, sessionId: string, key: ReceiptKey): Promise<StoredReceipt | null> {
  try {
    const bytes = await store.receipt(sessionId, key.operation, key.id)
    const receipt = bytes === undefined ? null : decodeJson<StoredReceipt>(bytes)
    return typeof receipt?.operation === 'string' && typeof receipt.digest === 'string' ? receipt : null
  } catch {
    return null
  }
}
