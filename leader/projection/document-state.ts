import type * as Y from 'yjs'
import { canonicalJson } from '../../schema/canonical.ts'
import { EMPTY_TASKS_REVISION, type PlanProjection, type TasksProjection } from '../../schema/entities/projection.ts'
import type { SessionHeader } from '../../schema/entities/session.ts'
import type { TranscriptEntry } from '../../schema/entities/transcript.ts'
import type { TurnSnapshot } from '../../schema/entities/turn.ts'
import {
  type DocumentCounters,
  type DocumentHead,
  type DocumentOrigin,
  type InteractionRecord,
  type QueueRecord,
  type RootMeta,
  readHead,
  readOrigin,
  readTasks,
  section,
} from '../../schema/projection/layout.ts'
import type { AgentSession, SessionState } from '../domain/state.ts'

/**
 * What a session's document holds, as plain data; open text blocks apart. `head.at` is the time of the newest transition or flush.
 * Lists are in the order of SessionState. Values are the document's own: never change them.
 */
export interface DocumentState {
  readonly head: DocumentHead
  readonly origin: DocumentOrigin
  readonly header: SessionHeader | null
  readonly rootSnapshot: TurnSnapshot | null
  readonly rootMeta: RootMeta | null
  readonly agentSession: AgentSession | null
  readonly queueRevision: number
  readonly nextSeq: number
  readonly queue: readonly QueueRecord[]
  readonly interactions: readonly InteractionRecord[]
  readonly plan: PlanProjection
  readonly tasks: TasksProjection
  readonly transcript: readonly TranscriptEntry[]
}

/** The part of DocumentState that folding the ledger gives. */
export type FoldedDocumentState = Omit<DocumentState, 'origin'>

/** The plan section while nothing was ever planned: not written then. */
export const EMPTY_PLAN: PlanProjection = Object.freeze({
  storeVersion: 0,
  latestProposal: null,
  activeExecution: null,
  lastExecution: null,
  agentPlan: null,
})

/** The task section while there was never a task: not written then. */
export const EMPTY_TASKS: TasksProjection = Object.freeze({ revision: EMPTY_TASKS_REVISION, items: Object.freeze([]) })

/** The counters while nothing was counted yet: not written then. */
export const FIRST_COUNTERS: DocumentCounters = Object.freeze({ queueRevision: 0, nextSeq: 1 })

/** The document as plain data, or null while it is empty (no head or no origin). */
export function readDocumentState(doc: Y.Doc): DocumentState | null {
  const head = readHead(doc)
  const origin = readOrigin(doc)
  if (head === null || origin === null) return null
  const counters = (section(doc, 'counters').get('counters') as DocumentCounters | undefined) ?? FIRST_COUNTERS
  return {
    head,
    origin,
    header: readHeader(doc),
    rootSnapshot: (section(doc, 'root').get('turn') as TurnSnapshot | undefined) ?? null,
    rootMeta: (section(doc, 'root').get('admission') as RootMeta | undefined) ?? null,
    agentSession: (section(doc, 'root').get('agent') as AgentSession | undefined) ?? null,
    queueRevision: counters.queueRevision,
    nextSeq: counters.nextSeq,
    queue: records<QueueRecord>(doc, 'queue').sort((a, b) => a.order - b.order),
    interactions: records<InteractionRecord>(doc, 'interactions').sort((a, b) => a.order - b.order),
    plan: (section(doc, 'plan').get('state') as PlanProjection | undefined) ?? EMPTY_PLAN,
    tasks: readTasks(doc) ?? EMPTY_TASKS,
    transcript: records<TranscriptEntry>(doc, 'transcript').sort((a, b) => a.seq - b.seq),
  }
}

function readHeader(doc: Y.Doc): SessionHeader | null {
  const header = section(doc, 'session').get('header') as Omit<SessionHeader, 'status' | 'lastActivityAt'> | undefined
  const activity = section(doc, 'activity').get('activity') as Pick<SessionHeader, 'status' | 'lastActivityAt'>
  return header === undefined ? null : { ...header, ...activity }
}

function records<T>(doc: Y.Doc, name: 'queue' | 'interactions' | 'transcript'): T[] {
  return [...section(doc, name).values()] as T[]
}

/** What the document of this state holds right after its newest transition. */
export function documentStateOf(state: SessionState): FoldedDocumentState {
  return {
    head: { revision: state.revision, delta: 0, at: state.at },
    header: state.header,
    rootSnapshot: state.root?.snapshot ?? null,
    rootMeta: rootMetaOf(state),
    agentSession: state.agentSession,
    queueRevision: state.queueRevision,
    nextSeq: state.nextSeq,
    queue: state.queue,
    interactions: state.interactions,
    plan: state.plan,
    tasks: state.tasks,
    transcript: state.transcript.map(live => live.entry),
  }
}

/** What the document keeps of a root turn beside its snapshot. */
export function rootMetaOf({ root }: SessionState): RootMeta | null {
  return root === null ? null : { turnId: root.admission.turnId, admittedRevision: root.admittedRevision }
}

/**
 * True when a document shows what folding its session's ledger gives. The text flushes since the newest transition are no facts: they
 * count neither in `head.delta` nor, once there are any, in `head.at`. Source: A8, L4.
 */
export function isSameDocumentState(document: FoldedDocumentState, folded: FoldedDocumentState): boolean {
  const comparable = ({ head, ...rest }: FoldedDocumentState): unknown => ({
    ...rest,
    origin: undefined,
    revision: head.revision,
    at: document.head.delta === 0 ? head.at : undefined,
  })
  return canonicalJson(comparable(document)) === canonicalJson(comparable(folded))
}
