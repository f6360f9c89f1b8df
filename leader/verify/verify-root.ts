import type { Fault } from '../../schema/commands/host.ts'
import type { StoreReader } from '../log/store.ts'
import { verifySession } from './verify-session.ts'

const PAGE_SESSIONS = 256

/** How far a walk is. */
export interface VerifyProgress {
  readonly sessions: number
  readonly records: number
}

/** What a whole walk read. */
export interface VerifySummary extends VerifyProgress {
  readonly documents: number
}

/**
 * Walks every session of a root, changes nothing, and yields each fault; returns what it read. Memory does not grow with the root.
 * Source: D2, A8.
 */
export async function* verifyRoot(
  store: StoreReader,
  onProgress: (progress: VerifyProgress) => void = () => {},
): AsyncGenerator<Fault, VerifySummary> {
  let sessions = 0
  let records = 0
  let cursor: string | undefined
  for (;;) {
    const page = await store.sessions(cursor, PAGE_SESSIONS)
    for (const sessionId of page) {
      const check = await verifySession(store, sessionId)
      sessions += 1
      records += check.records
      yield* check.faults
      onProgress({ sessions, records })
    }
    cursor = page.at(-1)
    if (cursor === undefined || page.length < PAGE_SESSIONS) return { sessions, records, documents: sessions }
  }
}
