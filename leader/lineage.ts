import { randomBytes } from 'node:crypto'
import { readEpoch } from './epoch.ts'
import type { Store, StoreReader } from './log/store.ts'
import { decodeJson, encodeJson } from './session/record.ts'

/** Where a root keeps its lineage. */
export const LINEAGE_KEY = 'lineage'

/** Bytes of a lineage: 8 characters as hex, so that it fits in front of every generation. */
const LINEAGE_BYTES = 4

/**
 * Which history a root's content belongs to. `id` is '' until the root was first put back, adopted, repaired or accepted as it is. Processes
 * that were recorded in epochs up to `foreignThrough` belong to the root that this one is a copy of. Source: V7, D4, R2.
 */
export interface Lineage {
  readonly id: string
  readonly foreignThrough: number
}

const FIRST: Lineage = { id: '', foreignThrough: 0 }

/** The lineage a root is in. */
export async function readLineage(store: StoreReader): Promise<Lineage> {
  const bytes = await store.rootRecord(LINEAGE_KEY)
  return bytes === undefined ? FIRST : decodeJson<Lineage>(bytes)
}

/**
 * Begins a new lineage and gives its id; durable when it resolves. Every session's document is built anew when it is next loaded, so that no
 * replica takes it for a continuation of what it saw. `isCopy`: what earlier epochs recorded of processes is not this root's. Source: V7.
 */
export async function beginLineage(store: Store, options: { readonly isCopy?: boolean } = {}): Promise<string> {
  const { foreignThrough } = await readLineage(store)
  const id = randomBytes(LINEAGE_BYTES).toString('hex')
  const lineage: Lineage = {
    id,
    foreignThrough: options.isCopy === true ? (await readEpoch(store)).number : foreignThrough,
  }
  await store.putRootRecord(LINEAGE_KEY, encodeJson(lineage))
  return id
}
