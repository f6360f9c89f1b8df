import * as Y from 'yjs'
import { readHead, readOrigin } from './layout.ts'

/** What a replica needs of Yjs, in one module, so that it is loaded only when a document is opened. */
export { CatalogReader } from './catalog.ts'
export { newDocument } from './layout.ts'
export { SessionReader } from './read.ts'

/** Where a document is: its build, the transition it shows, and the text flushes since. `at` is the leader's time of the last one. */
export interface Position {
  readonly generation: string
  readonly revision: number
  readonly delta: number
  readonly at: number
}

/** The document's position, or null while it is empty. */
export function readPosition(doc: Y.Doc): Position | null {
  const head = readHead(doc)
  const origin = readOrigin(doc)
  if (head === null || origin === null) return null
  return { generation: origin.generation, revision: head.revision, delta: head.delta, at: head.at }
}

/**
 * Applies an update that came from a leader. `unchanged`: it held nothing new. `torn`: it is no update, or parts of it wait for others
 * that are missing; then the document must not be shown before it was synced again. Source: V5, H5.
 */
export function applyUpdate(doc: Y.Doc, update: Uint8Array): 'applied' | 'unchanged' | 'torn' {
  let hasChanged = false
  const note = (): void => {
    hasChanged = true
  }
  doc.on('update', note)
  try {
    Y.applyUpdate(doc, update)
  } catch {
    return 'torn'
  } finally {
    doc.off('update', note)
  }
  if (doc.store.pendingStructs !== null || doc.store.pendingDs !== null) return 'torn'
  return hasChanged ? 'applied' : 'unchanged'
}

/** What a replica tells the leader it has. */
export function stateVector(doc: Y.Doc): Uint8Array {
  return Y.encodeStateVector(doc)
}
