import * as decoding from 'lib0/decoding'
import * as Y from 'yjs'

/** The state vector of an empty document: whoever sends it lacks everything. */
export const EMPTY_STATE_VECTOR = Uint8Array.of(0)

/** True for the state vector of an empty document. */
export function isEmptyVector(stateVector: Uint8Array): boolean {
  return stateVector.length === 1 && stateVector[0] === 0
}

/**
 * True when the vector names a writer that the document does not have, or a higher clock: its holder saw what this document never held.
 * Reads a client's bytes: bounded by their length, never throws. Source: V6, A4, H6.
 */
export function isVectorAhead(doc: Y.Doc, stateVector: Uint8Array): boolean | 'malformed' {
  try {
    const decoder = decoding.createDecoder(stateVector)
    const count = decoding.readVarUint(decoder)
    // An entry takes two bytes at least.
    if (count * 2 > stateVector.length) return 'malformed'
    let isAhead = false
    for (let i = 0; i < count; i++) {
      const writer = decoding.readVarUint(decoder)
      const clock = decoding.readVarUint(decoder)
      if (!doc.store.clients.has(writer) || clock > Y.getState(doc.store, writer)) isAhead = true
    }
    return decoding.hasContent(decoder) ? 'malformed' : isAhead
  } catch {
    return 'malformed'
  }
}
