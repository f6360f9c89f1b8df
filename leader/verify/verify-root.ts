import type { Fault } from '../../schema/commands/host.ts'
import type { StoreReader } from '../log/store.ts'
import { checkArtifacts } from './check-artifacts.ts'
import { checkIndexes } from './check-indexes.ts'
import { verifySession } from './verify-session.ts'

const PAGE_SESSIONS = 256
const PAGE_IDS = 10_000
/** A session of fewer records is told of when it is done. */
const TOLD_RECORDS = 1_024

/** How far a walk is. `sessionsTotal` is what there is to be checked. */
export interface VerifyProgress {
  readonly sessions: number
  readonly sessionsTotal: number
  readonly records: number
}

/** What a whole walk read. */
export interface VerifySummary {
  readonly sessions: number
  readonly records: number
  readonly documents: number
}

/**
 * Walks every session of a root, its indexes and its artifacts, changes nothing, and yields each fault; returns what it read. Memory does not
 * grow with the root. The reader must show one state (`Store.freeze`). Source: D2, A8.
 */
export async function* verifyRoot(
  store: StoreReader,
  onProgress: (progress: VerifyProgress) => void = () => {},
): AsyncGenerator<Fault, VerifySummary> {
  const sessionsTotal = await countSessions(store)
  let sessions = 0
  let records = 0
  for (let cursor: string | undefined; ; ) {
    const page = await store.sessions(cursor, PAGE_SESSIONS)
    for (const sessionId of page) {
      const before = records
      const check = await verifySession(store, sessionId, read => {
        if (read >= TOLD_RECORDS) onProgress({ sessions, sessionsTotal, records: before + read })
      })
      sessions += 1
      records = before + check.records
      yield* check.faults
      onProgress({ sessions, sessionsTotal, records })
    }
    cursor = page.at(-1)
    if (cursor === undefined) break
  }
  yield* checkIndexes(store)
  yield* checkArtifacts(store)
  return { sessions, records, documents: sessions }
}

async function countSessions(store: StoreReader): Promise<number> {
  let count = 0
  for (let cursor: string | undefined; ; ) {
    const page = await store.sessions(cursor, PAGE_IDS)
    count += page.length
    cursor = page.at(-1)
    if (cursor === undefined) return count
  }
}
