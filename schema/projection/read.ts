import * as Y from 'yjs'
import type { InteractionSnapshot } from '../entities/interaction.ts'
import {
  EMPTY_TASKS_REVISION,
  type PlanProjection,
  type PresenceRow,
  type SessionProjection,
  type TasksProjection,
} from '../entities/projection.ts'
import type { QueueEntry, QueueProjection } from '../entities/queue.ts'
import type { SessionHeader } from '../entities/session.ts'
import type { TextEntry, TranscriptEntry, TranscriptPage } from '../entities/transcript.ts'
import type { TurnSnapshot } from '../entities/turn.ts'
import { deepFreeze } from '../frozen.ts'
import {
  type BlockMeta,
  type DocumentCounters,
  type InteractionRecord,
  META_PREFIX,
  type QueueRecord,
  readHead,
  readOrigin,
  readTasks,
  SECTIONS,
  type Section,
  section,
} from './layout.ts'

/** What the leader tells beside the document. Source: V4. */
export interface ViewFacts {
  readonly hostEpoch: string
  readonly baseRevision: number
  readonly presence: readonly PresenceRow[]
  readonly presenceCount: number
  readonly isDamaged?: boolean
}

const EMPTY_PLAN: PlanProjection = Object.freeze({
  storeVersion: 0,
  latestProposal: null,
  activeExecution: null,
  lastExecution: null,
  agentPlan: null,
})
const EMPTY_TASKS: TasksProjection = Object.freeze({ revision: EMPTY_TASKS_REVISION, items: Object.freeze([]) })

/**
 * Turns a session's document into frozen snapshots. It listens to the document from its construction on and reads again only what a
 * transaction touched, so parts that did not change keep their identity and a delta costs what changed. One reader a document.
 */
export class SessionReader {
  readonly #doc: Y.Doc
  readonly #dirty = new Set<Section>(SECTIONS)
  readonly #entries = new Map<string, TranscriptEntry>()
  readonly #dirtyEntries = new Set<string>()
  /** Entries of open texts that have not grown since they were read. */
  readonly #textEntries = new WeakMap<object, TextEntry>()
  #areEntriesUnread = true
  #sealed: readonly TranscriptEntry[] = []
  #blocks: readonly TextEntry[] = []
  #header: SessionHeader | undefined
  #queue: QueueProjection | undefined
  #interactions: SessionProjection['interactions'] = Object.freeze({ pending: Object.freeze([]) as never })
  #plan = EMPTY_PLAN
  #tasks = EMPTY_TASKS
  #transcript: TranscriptPage | undefined
  #last: SessionProjection | undefined
  #lastView: ViewFacts | undefined
  readonly #onTransaction = (transaction: Y.Transaction): void => this.#note(transaction)

  constructor(doc: Y.Doc) {
    this.#doc = doc
    for (const name of SECTIONS) section(doc, name)
    doc.on('afterTransaction', this.#onTransaction)
  }

  /** Stops listening. */
  close(): void {
    this.#doc.off('afterTransaction', this.#onTransaction)
  }

  /** The snapshot of the document's present state, or null while the document is empty. Same value as before if nothing changed. */
  read(view: ViewFacts): SessionProjection | null {
    const head = readHead(this.#doc)
    const origin = readOrigin(this.#doc)
    if (head === null || origin === null) return null
    if (this.#last !== undefined && this.#dirty.size === 0 && view === this.#lastView) return this.#last
    const header = this.#readHeader(view)
    const queue = this.#readQueue(view.hostEpoch)
    this.#readSections()
    const transcript = this.#readTranscript()
    this.#dirty.clear()
    this.#lastView = view
    this.#last = Object.freeze({
      session: header,
      hostEpoch: view.hostEpoch,
      generation: origin.generation,
      revision: head.revision,
      projectionRevision: head.revision - view.baseRevision + 1,
      rootTurn: (section(this.#doc, 'root').get('turn') as TurnSnapshot | undefined) ?? null,
      queue,
      interactions: this.#interactions,
      plan: this.#plan,
      tasks: this.#tasks,
      transcript,
      presence: view.presence,
      presenceCount: view.presenceCount,
    })
    deepFreeze(this.#last.rootTurn)
    return this.#last
  }

  #note(transaction: Y.Transaction): void {
    for (const [type, keys] of transaction.changed) {
      const name = this.#sectionOf(type)
      if (name === undefined) continue
      this.#dirty.add(name)
      if (name === 'text') this.#textEntries.delete(type)
      if (name === 'transcript') for (const key of keys) if (key !== null) this.#dirtyEntries.add(key)
    }
  }

  // biome-ignore lint/suspicious/noExplicitAny: the type parameter is invariant in yjs
  #sectionOf(type: Y.AbstractType<any>): Section | undefined {
    const top = type.parent ?? type
    return SECTIONS.find(name => this.#doc.share.get(name) === top)
  }

  #readHeader(view: ViewFacts): SessionHeader {
    const isDamaged = view.isDamaged === true
    const known = this.#header
    if (known !== undefined && !this.#dirty.has('session') && !this.#dirty.has('activity')) {
      if (isDamaged === (known.status === 'damaged')) return known
    }
    const header = section(this.#doc, 'session').get('header') as SessionHeader
    const activity = section(this.#doc, 'activity').get('activity') as Pick<SessionHeader, 'status' | 'lastActivityAt'>
    this.#header = deepFreeze({ ...header, ...activity, ...(isDamaged ? { status: 'damaged' as const } : {}) })
    return this.#header
  }

  #readQueue(hostEpoch: string): QueueProjection {
    const known = this.#queue
    const isSame = !this.#dirty.has('queue') && !this.#dirty.has('counters') && known?.hostEpoch === hostEpoch
    if (known !== undefined && isSame) return known
    const records = [...section(this.#doc, 'queue').values()] as QueueRecord[]
    records.sort((a, b) => a.order - b.order)
    const queueRevision = this.#counters().queueRevision
    const of = (placement: QueueEntry['placement']): QueueEntry[] =>
      records.filter(r => r.entry.placement === placement).map(r => r.entry)
    let oldest: QueueRecord['parked']
    for (const { parked } of records)
      if (parked && (oldest === undefined || parked.since < oldest.since)) oldest = parked
    this.#queue = deepFreeze({
      hostEpoch,
      queueRevision,
      steering: of('current_turn'),
      followup: of('next_turn'),
      parked: oldest === undefined ? null : { reason: oldest.reason, since: oldest.since },
    })
    return this.#queue
  }

  #counters(): DocumentCounters {
    const counters = section(this.#doc, 'counters').get('counters') as DocumentCounters | undefined
    return counters ?? { queueRevision: 0, nextSeq: 1 }
  }

  #readSections(): void {
    if (this.#dirty.has('interactions')) {
      const records = [...section(this.#doc, 'interactions').values()] as InteractionRecord[]
      records.sort((a, b) => a.order - b.order)
      const pending: InteractionSnapshot[] = records.map(r => r.snapshot)
      this.#interactions = deepFreeze({ pending })
    }
    if (this.#dirty.has('plan')) {
      this.#plan = deepFreeze((section(this.#doc, 'plan').get('state') as PlanProjection | undefined) ?? EMPTY_PLAN)
    }
    if (this.#dirty.has('tasks')) this.#tasks = deepFreeze(readTasks(this.#doc) ?? EMPTY_TASKS)
  }

  #readTranscript(): TranscriptPage {
    const changed = this.#dirty.has('transcript')
    const textChanged = this.#dirty.has('text') || this.#dirty.has('counters')
    if (this.#transcript !== undefined && !changed && !textChanged) return this.#transcript
    if (changed) this.#readEntries()
    if (textChanged) this.#readBlocks()
    const entries = this.#blocks.length === 0 ? this.#sealed : [...this.#sealed, ...this.#blocks]
    const firstSeq = entries[0]?.seq ?? 0
    this.#transcript = Object.freeze({
      entries: Object.freeze(entries) as TranscriptEntry[],
      firstSeq,
      lastSeq: entries.at(-1)?.seq ?? 0,
      hasMore: firstSeq > 1,
    })
    return this.#transcript
  }

  #readEntries(): void {
    const map = section(this.#doc, 'transcript')
    const keys = this.#areEntriesUnread ? map.keys() : this.#dirtyEntries.values()
    this.#areEntriesUnread = false
    for (const key of keys) {
      const entry = map.get(key) as TranscriptEntry | undefined
      if (entry === undefined) this.#entries.delete(key)
      else this.#entries.set(key, deepFreeze(entry))
    }
    this.#dirtyEntries.clear()
    this.#sealed = Object.freeze([...this.#entries.values()].sort((a, b) => a.seq - b.seq))
  }

  #readBlocks(): void {
    const map = section(this.#doc, 'text')
    const metas: BlockMeta[] = []
    for (const [key, value] of map) if (key.startsWith(META_PREFIX)) metas.push(value as BlockMeta)
    metas.sort((a, b) => a.startedAt - b.startedAt)
    const blocks: TextEntry[] = []
    for (const meta of metas) {
      const text = map.get(meta.blockId)
      if (!(text instanceof Y.Text)) continue
      const seq = this.#counters().nextSeq + blocks.length
      const known = this.#textEntries.get(text)
      const entry = known?.seq === seq ? known : Object.freeze(streamingEntry(meta, seq, text.toString()))
      this.#textEntries.set(text, entry)
      blocks.push(entry)
    }
    this.#blocks = Object.freeze(blocks)
  }
}

/** The transcript entry an open block shows as. */
function streamingEntry(meta: BlockMeta, seq: number, text: string): TextEntry {
  const { blockId, kind, messageId, offset, turnId, runId, startedAt } = meta
  return { seq, id: blockId, turnId, runId, at: startedAt, kind, messageId, offset, text, isStreaming: true }
}
