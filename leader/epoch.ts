import { randomUUID } from 'node:crypto'
import type { Store, StoreReader } from './log/store.ts'
import { decodeJson, encodeJson } from './session/record.ts'

const KEY = 'epoch'

/** One leader process's tenure, as it is recorded in the root. Source: E1. */
export interface Epoch {
  readonly number: number
  readonly hostEpoch: string
  readonly startedAt: number
}

/** The newest recorded epoch; number 0 for a root that no leader has served yet. */
export async function readEpoch(store: StoreReader): Promise<Epoch> {
  const bytes = await store.rootRecord(KEY)
  return bytes === undefined ? { number: 0, hostEpoch: '', startedAt: 0 } : decodeJson<Epoch>(bytes)
}

/** An epoch that leaves no trace: its leader only reads. Source: D4. */
export async function unstoredEpoch(store: StoreReader, now: number): Promise<Epoch> {
  const { number } = await readEpoch(store)
  return { number: number + 1, hostEpoch: randomUUID(), startedAt: now }
}

/** Begins a new epoch; durable when it resolves. */
export async function beginEpoch(store: Store, now: number): Promise<Epoch> {
  const epoch = await unstoredEpoch(store, now)
  await store.putRootRecord(KEY, encodeJson(epoch))
  return epoch
}
