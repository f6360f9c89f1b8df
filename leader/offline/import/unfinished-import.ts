import { LIMITS } from '../../../schema/limits.ts'
import type { Store } from '../../log/store.ts'
import { decodeJson, encodeJson } from '../../session/record.ts'

/** Where a root says which session is being imported; null: none is. */
const KEY = 'importing'

/** An import begins: what it writes without ending is removed. */
export async function noteImport(store: Store, sessionId: string): Promise<void> {
  await store.putRootRecord(KEY, encodeJson(sessionId))
}

/** Removes what an import has left that was cut off; to be called before anybody else writes. Source: A3. */
export async function endImport(store: Store): Promise<void> {
  const bytes = await store.rootRecord(KEY)
  const sessionId = bytes === undefined ? null : decodeJson<string | null>(bytes)
  if (sessionId === null) return
  // With a head it is whole: only the note of it was left.
  if ((await store.head(sessionId)).revision === 0) {
    const keep = { receipts: [], segmentsThrough: null }
    for (let isDone = false; !isDone; ) isDone = await store.purge(sessionId, keep, LIMITS.purgeRecords)
  }
  await store.putRootRecord(KEY, encodeJson(null))
}
