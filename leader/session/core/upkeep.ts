import type { SessionDocument } from '../../projection/session-document.ts'
import type { SessionEnvironment } from '../environment.ts'

/** Replaces the updates of a document's log by one snapshot of the same generation: loading stays short. Source: A7. */
export async function snapshotLog(
  env: SessionEnvironment,
  sessionId: string,
  fence: number,
  document: SessionDocument,
): Promise<void> {
  const { number, generation } = document
  const outcome = await env.store.compact(sessionId, fence, { through: number, generation, bytes: document.encode() })
  if (outcome.kind !== 'committed') {
    env.log.warn({ session_id: sessionId, code: outcome.kind }, 'the document log was not shortened')
  }
}

/**
 * Stores a fresh build of the document and takes it on. While it is being stored nothing is decided, so the build stays whole; if it cannot be stored, the old
 * one stays. Source: V7.
 */
export async function rebuildDocument(work: {
  readonly env: SessionEnvironment
  readonly sessionId: string
  readonly fence: number
  readonly whenDurable: () => Promise<void>
  readonly build: () => SessionDocument
  readonly adopt: (document: SessionDocument) => void
}): Promise<void> {
  const { env, sessionId, fence } = work
  await work.whenDurable()
  const document = work.build()
  const { number, generation } = document
  env.crash('mid_compaction')
  const outcome = await env.store.compact(sessionId, fence, { through: number, generation, bytes: document.encode() })
  env.crash('mid_compaction')
  if (outcome.kind === 'committed') work.adopt(document)
  else env.log.warn({ session_id: sessionId, code: outcome.kind }, 'the document was not built anew')
}
