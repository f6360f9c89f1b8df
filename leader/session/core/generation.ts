import { HeadwaterError } from '../../../schema/errors.ts'
import { lineageOf } from '../../../schema/projection/lineage.ts'
import type { Store } from '../../log/store.ts'
import type { SessionEnvironment } from '../environment.ts'
import type { LoadedSession } from '../load.ts'
import { codeOfOutcome } from './pipeline.ts'

/** The name of a new build of a document; it begins with the root's lineage, where there is one. Source: V7. */
export function newGeneration({ lineage = '', newId }: Pick<SessionEnvironment, 'lineage' | 'newId'>): string {
  return lineage === '' ? newId() : `${lineage}.${newId()}`
}

/**
 * The session with a document of this lineage: one of another lineage is built anew, and is stored before anything is written on top of it.
 * What is only read is built and not stored. Rejects where it could not be stored: nothing may go on then. Source: V7, D4.
 */
export async function inLineage(
  env: SessionEnvironment,
  loaded: LoadedSession,
  claim: { readonly sessionId: string; readonly fence: number },
): Promise<LoadedSession> {
  const { lineage = '', store } = env
  if (lineage === '' || lineageOf(loaded.document.generation) === lineage) return loaded
  const document = loaded.document.rebuild(loaded.state, newGeneration(env))
  const bytes = document.encode()
  const snapshot = { through: document.number, generation: document.generation, bytes }
  if (store.health !== 'regressed') await storeBuild(store, claim, snapshot)
  return { ...loaded, document, log: { updates: 0, bytes: 0, snapshotBytes: bytes.length } }
}

async function storeBuild(
  store: Store,
  { sessionId, fence }: { readonly sessionId: string; readonly fence: number },
  snapshot: Parameters<Store['compact']>[2],
): Promise<void> {
  const outcome = await store.compact(sessionId, fence, snapshot)
  if (outcome.kind === 'committed') return
  throw new HeadwaterError(codeOfOutcome(outcome), 'The document of the session could not be built anew.')
}
