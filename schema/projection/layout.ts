import * as Y from 'yjs'
import type { InteractionSnapshot } from '../entities/interaction.ts'
import type { TasksProjection } from '../entities/projection.ts'
import type { ParkReason, QueueEntry } from '../entities/queue.ts'
import { compareTaskKeys, type Task } from '../entities/task.ts'

/**
 * The sections of a session's document: one top-level Y.Map each, one key per record, each value one whole JSON record.
 * Every section is written under a writer id of its own, so that its dead records merge away. Source: architecture 4.
 *
 *   head          'head'    → DocumentHead, written by every transition and delta flush
 *   origin        'origin'  → DocumentOrigin
 *   session       'header'  → the header without status and lastActivityAt
 *   activity      'activity'→ {status, lastActivityAt}
 *   root          'turn'    → TurnSnapshot of the newest root turn, 'admission' → RootMeta,
 *                 'agent' → what a later epoch must know of the agent; replicas do not read it
 *   counters      'counters'→ DocumentCounters
 *   queue         entryId   → QueueRecord
 *   interactions  interactionId → InteractionRecord (pending ones)
 *   plan          'state'   → PlanProjection
 *   tasks         task id   → Task, TASKS_REVISION → the digest of the list
 *   transcript    seq       → TranscriptEntry (the newest ones)
 *   text          blockId   → Y.Text, and `meta:<blockId>` → BlockMeta (open blocks)
 */
export const SECTIONS = [
  'head',
  'origin',
  'session',
  'activity',
  'root',
  'counters',
  'queue',
  'interactions',
  'plan',
  'tasks',
  'transcript',
  'text',
] as const
/** The name of a section. */
export type Section = (typeof SECTIONS)[number]

/** Position of a document: the ledger revision it shows, and the text flushes since. Source: L4, V5. */
export interface DocumentHead {
  readonly revision: number
  readonly delta: number
  readonly at: number
}

/** Which layout and which build a document is of. Source: V7. */
export interface DocumentOrigin {
  readonly schema: number
  readonly generation: string
}

/** Numbers that grow: what the next change and the next entry get. */
export interface DocumentCounters {
  readonly queueRevision: number
  /** `seq` the next transcript entry gets. */
  readonly nextSeq: number
}

/** Which turn `root` shows and the ledger revision of its admission: where the leader reads on after a load. */
export interface RootMeta {
  readonly turnId: string
  readonly admittedRevision: number
}

/** A queue entry with what only the leader and the order need. */
export interface QueueRecord {
  readonly entry: QueueEntry
  readonly order: number
  readonly parked?: { readonly reason: ParkReason; readonly since: number }
}

/** A pending interaction with its place in the order and the time it was given. */
export interface InteractionRecord {
  readonly snapshot: InteractionSnapshot
  readonly order: number
  readonly openedAt: number
  readonly expiresInMs?: number
}

/** What an open text block is; its text is the Y.Text beside it. `seq` is the transcript seq it will have if nothing comes before. */
export interface BlockMeta {
  readonly blockId: string
  readonly kind: 'assistant' | 'thinking'
  readonly messageId: string
  readonly offset: number
  readonly turnId: string
  readonly runId: string
  readonly startedAt: number
}

/** The key of the list's digest in the section `tasks`; no task can have it as its id. */
export const TASKS_REVISION = 'meta:revision'

/** What the key of a block's BlockMeta begins with, in the section `text`. */
export const META_PREFIX = 'meta:'

/** The section's map; creates the top-level type locally if it is not there yet. */
export function section(doc: Y.Doc, name: Section): Y.Map<unknown> {
  return doc.getMap(name)
}

/** An empty document as the leader and the replicas make it: no random client id is ever used for writing. */
export function newDocument(): Y.Doc {
  return new Y.Doc({ gc: true })
}

/** The document's position, or null for an empty document. */
export function readHead(doc: Y.Doc): DocumentHead | null {
  return (section(doc, 'head').get('head') as DocumentHead | undefined) ?? null
}

/** The document's layout and build, or null for an empty document. */
export function readOrigin(doc: Y.Doc): DocumentOrigin | null {
  return (section(doc, 'origin').get('origin') as DocumentOrigin | undefined) ?? null
}

/** The tasks in order, each the document's own value, so that one nobody changed is the same as before; null while there were none. */
export function readTasks(doc: Y.Doc): TasksProjection | null {
  const map = section(doc, 'tasks')
  const revision = map.get(TASKS_REVISION) as string | undefined
  if (revision === undefined) return null
  const items: Task[] = []
  for (const [key, value] of map) if (key !== TASKS_REVISION) items.push(value as Task)
  return { revision, items: items.sort((a, b) => compareTaskKeys(a.key, b.key)) }
}

/** The catalog document: section `head` as in a session's document (generation in `origin`), section `rows` sessionId → CatalogRow. */
export const CATALOG_ROWS = 'rows'
