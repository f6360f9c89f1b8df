import * as Y from 'yjs'
import { HeadwaterError } from '../../../schema/errors.ts'
import {
  type DocumentHead,
  newDocument,
  readHead,
  readOrigin,
  SECTIONS,
  section,
} from '../../../schema/projection/layout.ts'
import { DOCUMENT_SCHEMA } from '../../../schema/version.ts'
import type { StoredDocument } from '../../log/store.ts'

/**
 * What is wrong with a stored document:
 * `gap`: an update number is missing; `bytes`: an update cannot be read; `pending`: an update stands on one that is not there (H5);
 * `head`: an update's position does not follow on from the one before; `missing`: no head or no origin;
 * `generation`: snapshot and document name different builds.
 */
export type DocumentDamage = 'gap' | 'bytes' | 'pending' | 'head' | 'missing' | 'generation'

/** A loaded document and the number of its newest update. */
export interface LoadedDocument {
  readonly doc: Y.Doc
  readonly number: number
  readonly generation: string
}

/** An empty document with all sections as maps, so that what is loaded into it has its type from the start. */
export function emptyDocument(): Y.Doc {
  const doc = newDocument()
  for (const name of SECTIONS) section(doc, name)
  return doc
}

/**
 * Builds a document from its snapshot and updates. Every update must follow on from the one before: in number, in structs and in head.
 * Throws HeadwaterError `session_damaged` with `{kind: DocumentDamage, number}`. Source: D1, H5, V5.
 */
export function loadDocument(stored: StoredDocument): LoadedDocument {
  const doc = emptyDocument()
  // One transaction around all of them: the work at a transaction's end is then done once, not once per update.
  const number = doc.transact(() => applyStored(doc, stored))
  const head = readHead(doc)
  const origin = readOrigin(doc)
  if (!isHead(head) || typeof origin?.generation !== 'string') throw damaged('missing', number)
  if (origin.schema > DOCUMENT_SCHEMA) {
    throw new HeadwaterError(
      'incompatible',
      `the document has layout ${origin.schema}; this version reads up to ${DOCUMENT_SCHEMA}: upgrade headwater`,
      { layout: origin.schema, supported: DOCUMENT_SCHEMA },
    )
  }
  if (stored.snapshot !== null && stored.snapshot.generation !== origin.generation) throw damaged('generation', number)
  return { doc, number, generation: origin.generation }
}

function applyStored(doc: Y.Doc, stored: StoredDocument): number {
  let number = 0
  if (stored.snapshot !== null) {
    number = stored.snapshot.through
    applyChecked(doc, stored.snapshot.bytes, number)
    if (!isHead(readHead(doc))) throw damaged('missing', number)
  }
  for (const update of stored.updates) {
    if (update.number !== number + 1) throw damaged('gap', number + 1)
    number = update.number
    const before = readHead(doc)
    applyChecked(doc, update.bytes, number)
    const after = readHead(doc)
    if (!isHead(after) || (before !== null && !isNextHead(before, after))) throw damaged('head', number)
  }
  return number
}

function applyChecked(doc: Y.Doc, bytes: Uint8Array, number: number): void {
  try {
    Y.applyUpdate(doc, bytes)
  } catch {
    throw damaged('bytes', number)
  }
  if (doc.store.pendingStructs !== null || doc.store.pendingDs !== null) throw damaged('pending', number)
}

function isHead(head: DocumentHead | null): head is DocumentHead {
  return head !== null && Number.isSafeInteger(head.revision) && Number.isSafeInteger(head.delta)
}

function isNextHead(before: DocumentHead, after: DocumentHead): boolean {
  if (after.revision === before.revision) return after.delta === before.delta + 1
  return after.revision === before.revision + 1 && after.delta === 0
}

function damaged(kind: DocumentDamage, number: number): HeadwaterError {
  return new HeadwaterError('session_damaged', `the stored document is damaged at update ${number}: ${kind}`, {
    kind,
    number,
  })
}
