import { randomBytes } from 'node:crypto'
import type { Store, StoreReader } from './log/store.ts'
import { decodeJson, encodeJson } from './session/record.ts'

const KEY = 'lineage'

/** Bytes of a lineage: 8 characters as hex, so that it fits in front of every generation. */
const LINEAGE_BYTES = 4

interface LineageRecord {
  readonly lineage: string
}

/**
 * Which history a root's content belongs to; '' until it was first put back, adopted, repaired or accepted as it is. Content of two
 * lineages of one root must never be merged: documents get new generations. Source: V7, D4.
 */
export async function readLineage(store: StoreReader): Promise<string> {
  const bytes = await store.rootRecord(KEY)
  return bytes === undefined ? '' : decodeJson<LineageRecord>(bytes).lineage
}

/** Begins a new lineage and gives it; durable when it resolves. Every session's document is built anew when it is next loaded. Source: V7. */
export async function beginLineage(store: Store): Promise<string> {
  const lineage = randomBytes(LINEAGE_BYTES).toString('hex')
  await store.putRootRecord(KEY, encodeJson({ lineage } satisfies LineageRecord))
  return lineage
}
