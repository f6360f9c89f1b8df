import type { Store, StoreReader } from '../../leader/log/store.ts'
import type { Imported } from '../../leader/offline/import/import-item.ts'
import { importSession } from '../../leader/offline/import/import-session.ts'
import { OfflineReader } from '../../leader/offline/offline-reader.ts'
import { verifyRoot } from '../../leader/verify/verify-root.ts'
import { exportLines } from '../../replica/cli/exchange/export-lines.ts'
import { exportMarkdown } from '../../replica/cli/exchange/markdown/export-markdown.ts'
import { openSessionFile } from '../../replica/cli/exchange/read-session-file.ts'
import type { Sink } from '../../replica/cli/exchange/sink.ts'
import { viewSource } from '../../replica/cli/exchange/view-source.ts'

type Source = ReturnType<typeof viewSource>

/** A session of a store, as the command line reads it. */
export function sourceOf(store: StoreReader, sessionId: string): Source {
  const reader = new OfflineReader(store) as unknown as Parameters<typeof viewSource>[0]
  return viewSource(reader, { rootId: 'root-a' } as Parameters<typeof viewSource>[1], sessionId)
}

function keeping(pieces: string[]): Sink {
  return { isTerminal: false, write: async text => void pieces.push(text) }
}

/** The file a session is exported to; its first line says the same whenever it is. */
export async function exportText(store: StoreReader, sessionId: string): Promise<string> {
  const pieces: string[] = []
  const quiet = { onProgress: () => {}, onMissing: () => {} }
  await exportLines(sourceOf(store, sessionId), keeping(pieces), { withArtifacts: true, exportedAt: 0, ...quiet })
  return pieces.join('')
}

/** The transcript a session is exported to for people. */
export async function markdownOf(store: StoreReader, sessionId: string): Promise<string> {
  const pieces: string[] = []
  await exportMarkdown(sourceOf(store, sessionId), keeping(pieces))
  return pieces.join('')
}

/** Imports such a file; the builds of its documents are named one after the other. */
export async function importText(store: Store, text: string, generation = 'imported'): Promise<Imported> {
  const file = await openSessionFile(piecesOf(text))
  return await importSession({ store, now: () => 1, generation: () => generation }, file.first, file.items)
}

/** Any piece of a file may end anywhere, also within a character. */
async function* piecesOf(text: string): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += 997) yield bytes.subarray(at, at + 997)
}

/** What a session looks like to whoever opens it, without what names a build or an epoch, and without text that still streams. */
export async function shownBy(store: StoreReader, sessionId: string): Promise<unknown> {
  const {
    hostEpoch: _e,
    generation: _g,
    projectionRevision: _p,
    ...shown
  } = await new OfflineReader(store).readSession(sessionId)
  const entries = shown.transcript.entries.filter(entry => !('isStreaming' in entry))
  return { ...shown, transcript: { entries, hasMore: shown.transcript.hasMore } }
}

/** Every fault that a walk of the whole store finds. */
export async function faultsOf(store: Store): Promise<readonly unknown[]> {
  const frozen = await store.freeze()
  const faults: unknown[] = []
  for await (const fault of verifyRoot(frozen)) faults.push(fault)
  await frozen.close()
  return faults
}
