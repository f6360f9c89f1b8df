import type * as Y from 'yjs'
import type { TasksProjection } from '../../../schema/entities/projection.ts'
import type { SessionHeader } from '../../../schema/entities/session.ts'
import { type Section, section, TASKS_REVISION } from '../../../schema/projection/layout.ts'
import type { LiveEntry, SessionState } from '../../domain/state.ts'
import { EMPTY_TASKS, FIRST_COUNTERS, rootMetaOf } from '../document-state.ts'
import { plainRecord } from './plain-record.ts'
import type { DocumentWrite } from './writer.ts'

/** A write of one record into its section, under the section's writer. */
export function setRecord(doc: Y.Doc, name: Section, key: string, value: unknown): DocumentWrite {
  return { kind: 'set', writer: name, map: section(doc, name), key, value: plainRecord(value) }
}

/** A write that removes one record from its section. */
export function deleteRecord(doc: Y.Doc, name: Section, key: string): DocumentWrite {
  return { kind: 'delete', writer: name, map: section(doc, name), key }
}

/**
 * The writes that turn the document of `previous` into the document of `next`, head apart. Parts are compared by identity, records of
 * queue, interactions and transcript one by one: what a transition did not touch costs nothing and is not written.
 */
export function stateWrites(doc: Y.Doc, previous: SessionState | null, next: SessionState): DocumentWrite[] {
  const writes: DocumentWrite[] = []
  if (previous?.header !== next.header) headerWrites(doc, previous, next, writes)
  if (previous?.root !== next.root) rootWrites(doc, previous, next, writes)
  if ((previous?.agentSession ?? null) !== next.agentSession) {
    writes.push(rootKeyWrite(doc, 'agent', next.agentSession))
  }
  const counters = previous ?? FIRST_COUNTERS
  if (counters.queueRevision !== next.queueRevision || counters.nextSeq !== next.nextSeq) {
    const { queueRevision, nextSeq } = next
    writes.push(setRecord(doc, 'counters', 'counters', { queueRevision, nextSeq }))
  }
  if (previous?.queue !== next.queue) {
    recordWrites(
      doc,
      'queue',
      { previous: previous?.queue ?? [], next: next.queue, keyOf: r => r.entry.entryId },
      writes,
    )
  }
  if (previous?.interactions !== next.interactions) {
    const lists = { previous: previous?.interactions ?? [], next: next.interactions }
    recordWrites(doc, 'interactions', { ...lists, keyOf: r => r.snapshot.interactionId }, writes)
  }
  if (previous?.plan !== next.plan && (previous !== null || !isEmptyPlan(next))) {
    writes.push(setRecord(doc, 'plan', 'state', next.plan))
  }
  if (previous?.tasks !== next.tasks) taskWrites(doc, previous?.tasks ?? EMPTY_TASKS, next.tasks, writes)
  if (previous?.transcript !== next.transcript) {
    transcriptWrites(doc, previous?.transcript ?? [], next.transcript, writes)
  }
  return writes
}

function headerWrites(doc: Y.Doc, previous: SessionState | null, next: SessionState, writes: DocumentWrite[]): void {
  const before = previous?.header ?? null
  const after = next.header
  if (after === null) {
    writes.push(deleteRecord(doc, 'session', 'header'), deleteRecord(doc, 'activity', 'activity'))
    return
  }
  if (before === null || !isSameHeaderRecord(before, after)) {
    const { status: _status, lastActivityAt: _lastActivityAt, ...header } = after
    writes.push(setRecord(doc, 'session', 'header', header))
  }
  if (before?.status !== after.status || before?.lastActivityAt !== after.lastActivityAt) {
    const { status, lastActivityAt } = after
    writes.push(setRecord(doc, 'activity', 'activity', { status, lastActivityAt }))
  }
}

/** Status and lastActivityAt aside, the members are identical. */
function isSameHeaderRecord(a: SessionHeader, b: SessionHeader): boolean {
  return holdsMembersOf(a, b) && holdsMembersOf(b, a)
}

function holdsMembersOf(a: SessionHeader, b: SessionHeader): boolean {
  for (const key in b) {
    if (key === 'status' || key === 'lastActivityAt') continue
    if (a[key as keyof SessionHeader] !== b[key as keyof SessionHeader]) return false
  }
  return true
}

function rootWrites(doc: Y.Doc, previous: SessionState | null, next: SessionState, writes: DocumentWrite[]): void {
  const before = previous?.root?.snapshot
  const after = next.root?.snapshot
  if (before !== after) {
    writes.push(after === undefined ? deleteRecord(doc, 'root', 'turn') : setRecord(doc, 'root', 'turn', after))
  }
  const metaBefore = previous === null ? null : rootMetaOf(previous)
  const meta = rootMetaOf(next)
  if (metaBefore?.turnId === meta?.turnId && metaBefore?.admittedRevision === meta?.admittedRevision) return
  writes.push(rootKeyWrite(doc, 'admission', meta))
}

/** A writer of its own for each key: dead versions of two keys under one writer would keep each other from merging. */
function rootKeyWrite(doc: Y.Doc, key: string, value: unknown): DocumentWrite {
  const write = value === null ? deleteRecord(doc, 'root', key) : setRecord(doc, 'root', key, value)
  return { ...write, writer: `root ${key}` }
}

interface RecordLists<T> {
  readonly previous: readonly T[]
  readonly next: readonly T[]
  readonly keyOf: (record: T) => string
}

/** Both lists are short (64 entries, 16 interactions, 200 tasks): each has a bound of its own. */
function recordWrites<T>(
  doc: Y.Doc,
  name: 'queue' | 'interactions' | 'tasks',
  { previous, next, keyOf }: RecordLists<T>,
  writes: DocumentWrite[],
): void {
  const kept = new Map<string, T>()
  for (const record of previous) kept.set(keyOf(record), record)
  const set: DocumentWrite[] = []
  for (const record of next) {
    const key = keyOf(record)
    if (kept.get(key) !== record) set.push(setRecord(doc, name, key, record))
    kept.delete(key)
  }
  for (const key of kept.keys()) writes.push(deleteRecord(doc, name, key))
  writes.push(...set)
}

/** The digest goes under a writer of its own: with every change of a task it is another one. */
function taskWrites(doc: Y.Doc, previous: TasksProjection, next: TasksProjection, writes: DocumentWrite[]): void {
  recordWrites(doc, 'tasks', { previous: previous.items, next: next.items, keyOf: t => t.id }, writes)
  if (next.revision === previous.revision) return
  writes.push({ ...setRecord(doc, 'tasks', TASKS_REVISION, next.revision), writer: 'tasks revision' })
}

/** Both lists grow in `seq`: one walk over the two. */
function transcriptWrites(
  doc: Y.Doc,
  previous: readonly LiveEntry[],
  next: readonly LiveEntry[],
  writes: DocumentWrite[],
): void {
  let at = 0
  for (const { entry } of next) {
    let old = previous[at]?.entry
    while (old !== undefined && old.seq < entry.seq) {
      writes.push(deleteRecord(doc, 'transcript', String(old.seq)))
      at += 1
      old = previous[at]?.entry
    }
    if (old?.seq === entry.seq) at += 1
    if (old !== entry) writes.push(setRecord(doc, 'transcript', String(entry.seq), entry))
  }
  for (; at < previous.length; at++) {
    writes.push(deleteRecord(doc, 'transcript', String((previous[at] as LiveEntry).entry.seq)))
  }
}

function isEmptyPlan({ plan }: SessionState): boolean {
  const { storeVersion, latestProposal, activeExecution, lastExecution, agentPlan } = plan
  return (
    storeVersion === 0 &&
    latestProposal === null &&
    activeExecution === null &&
    lastExecution === null &&
    agentPlan === null
  )
}
