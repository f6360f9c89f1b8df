import fc from 'fast-check'
import { initialState, type OpenBlock, type SessionState } from '../../leader/domain/state.ts'
import type { BlockChanges, DocumentUpdate, SessionDocument } from '../../leader/projection/session-document.ts'
import { canonicalDigest } from '../../schema/digest.ts'
import type { SessionHeader } from '../../schema/entities/session.ts'
import { compareTaskKeys, type Task } from '../../schema/entities/task.ts'
import type { TranscriptEntry } from '../../schema/entities/transcript.ts'
import { wellFormedString } from './property.ts'

const STEPS = [
  'nothing',
  'header',
  'activity',
  'root',
  'snapshot',
  'agent',
  'queue_add',
  'queue_edit',
  'queue_remove',
  'queue_reorder',
  'interaction_open',
  'interaction_settle',
  'plan',
  'task_add',
  'task_change',
  'entry_append',
  'entry_change',
  'seal',
  'block_open',
  'block_close',
  'flush_open',
  'flush_append',
] as const

/** One step of a walk; `pick` chooses among what is there. */
export interface WalkStep {
  readonly kind: (typeof STEPS)[number]
  readonly pick: number
  readonly text: string
}

/** Any walk through the states of a session. */
export const walkSteps: fc.Arbitrary<readonly WalkStep[]> = fc.array(
  fc.record({ kind: fc.constantFrom(...STEPS), pick: fc.nat(1_000), text: wellFormedString }),
  { maxLength: 60, size: 'max' },
)

const actor = { surface: 'tui', clientInstanceId: 'client-1' }

/** The header every walk starts with. */
export const FIRST_HEADER: SessionHeader = {
  sessionId: 'session-1',
  title: '',
  titleIsManual: false,
  cwd: '/srv/ada',
  backend: 'scripted',
  permissionMode: 'ask',
  collaborationMode: 'agent',
  status: 'idle',
  isArchived: false,
  createdAt: 1_764_540_000_000,
  lastActivityAt: 1_764_540_000_000,
  revision: 1,
}

/** The state after `session.create`. */
export function createdState(sessionId = 'session-1'): SessionState {
  const header = { ...FIRST_HEADER, sessionId }
  return { ...initialState(sessionId), revision: 1, at: header.createdAt, header }
}

/** Walks a session through states, parts that a step does not touch keeping their identity, and writes each into its document. */
export class SessionWalk {
  readonly updates: DocumentUpdate[] = []
  readonly blocks = new Map<string, { readonly open: OpenBlock; text: string }>()
  document: SessionDocument
  state: SessionState
  delta = 0
  #serial = 0

  constructor(document: SessionDocument) {
    this.document = document
    this.state = createdState()
    this.updates.push(document.apply(null, this.state))
  }

  /** Does one step and gives the one update it made. */
  step(step: WalkStep): DocumentUpdate {
    this.#serial += 1
    const update = step.kind.startsWith('flush') ? this.#flush(step) : this.#transition(step)
    this.updates.push(update)
    return update
  }

  #flush({ kind, pick, text }: WalkStep): DocumentUpdate {
    this.delta += 1
    const at = this.state.at + this.delta
    const known = [...this.blocks.values()]
    if (kind === 'flush_open' || known.length === 0) {
      const opened = this.#newBlock(text)
      this.blocks.set(opened.open.blockId, { open: opened.open, text: text + text })
      return this.document.flush([opened, { blockId: opened.open.blockId, append: text }], at)
    }
    const block = known[pick % known.length] as { open: OpenBlock; text: string }
    block.text += text
    return this.document.flush([{ blockId: block.open.blockId, append: text }], at)
  }

  #newBlock(text: string): { open: OpenBlock; text: string } {
    const open: OpenBlock = {
      blockId: `block-${this.#serial}`,
      kind: this.#serial % 2 === 0 ? 'assistant' : 'thinking',
      messageId: 'message-a',
      offset: 0,
      turnId: 'turn-1',
      runId: 'run-1',
      startedAt: this.state.at + this.#serial,
    }
    this.blocks.set(open.blockId, { open, text })
    return { open, text }
  }

  #transition(step: WalkStep): DocumentUpdate {
    const { state } = this
    const blocks = this.#blockChanges(step)
    const next = { ...state, ...this.#patch(step), revision: state.revision + 1, at: state.at + 10 }
    const update = this.document.apply(state, next, blocks)
    this.state = next
    this.delta = 0
    return update
  }

  #blockChanges({ kind, pick, text }: WalkStep): BlockChanges {
    if (kind === 'block_open') return { open: [this.#newBlock(text)] }
    const ids = [...this.blocks.keys()]
    const id = ids[pick % Math.max(1, ids.length)]
    if (kind !== 'block_close' || id === undefined) return {}
    this.blocks.delete(id)
    return { close: [id, 'block-never-opened'] }
  }

  #patch({ kind, pick, text }: WalkStep): Partial<SessionState> {
    const { state } = this
    const id = `${this.#serial}`
    const header = state.header as SessionHeader
    switch (kind) {
      case 'header':
        // An undefined member is what a careless spread leaves behind; the document must not hold it.
        return {
          header: { ...header, title: text, model: pick % 2 === 0 ? undefined : 'm', revision: header.revision + 1 },
        }
      case 'activity':
        return { header: { ...header, status: pick % 2 === 0 ? 'idle' : 'running', lastActivityAt: state.at + pick } }
      case 'root':
        return { root: rootTurn(id, state.revision + 1, text) }
      case 'snapshot':
        return state.root === null
          ? {}
          : { root: { ...state.root, snapshot: failed(state.root.admission.turnId, text) } }
      case 'agent':
        return {
          agentSession:
            pick % 3 === 0 ? null : { backend: 'acp', agentSessionId: text, process: null, processEpoch: pick },
        }
      case 'plan':
        return {
          plan: { ...state.plan, storeVersion: state.plan.storeVersion + 1, latestProposal: proposal(id, text) },
        }
      case 'task_add':
      case 'task_change':
        return taskPatch(state, { kind, pick, text }, id)
      default:
        return { ...queuePatch(state, { kind, pick, text }, id), ...listPatch(state, { kind, pick, text }, id) }
    }
  }
}

/** A task more, under a parent or without one, or a text of one. */
function taskPatch(state: SessionState, { kind, pick, text }: WalkStep, id: string): Partial<SessionState> {
  const { items } = state.tasks
  const index = pick % Math.max(1, items.length)
  const chosen = items[index]
  if (kind === 'task_add') {
    const parent = pick % 2 === 0 ? chosen : undefined
    const number = items.filter(task => task.parentId === parent?.id).length + 1
    const key = parent === undefined ? `T${number}` : `${parent.key}.${number}`
    const of = parent === undefined ? {} : { parentId: parent.id }
    const times = { createdAt: state.at, updatedAt: state.at }
    const task: Task = { id: `task-${id}`, key, subject: text, status: 'pending', ...of, ...times }
    const next = [...items, task].sort((a, b) => compareTaskKeys(a.key, b.key))
    return { tasks: { revision: canonicalDigest(next), items: next } }
  }
  if (chosen === undefined) return {}
  const next = items.with(index, { ...chosen, subject: text, updatedAt: state.at })
  return { tasks: { revision: canonicalDigest(next), items: next } }
}

/** A proposal that was just submitted. */
function proposal(id: string, title: string): NonNullable<SessionState['plan']['latestProposal']> {
  return {
    planId: `plan-${id}`,
    proposalId: `proposal-${id}`,
    sessionId: 'session-1',
    turnId: `turn-${id}`,
    revision: 1,
    contentDigest: `sha256:${'0'.repeat(64)}`,
    title,
    steps: [{ id: 'step-1', title, description: '' }],
    status: 'pending_approval',
    submittedAt: 1_000,
  }
}

/** A root turn that was just admitted. */
export function rootTurn(id: string, admittedRevision: number, text: string): NonNullable<SessionState['root']> {
  return {
    admission: {
      turnId: `turn-${id}`,
      runId: `run-${id}`,
      userMessageId: `message-${id}`,
      execution: { kind: 'external_message' },
      previousRootTurnId: null,
      normalizedInput: { text },
      sourceMessages: [],
      submittedBy: actor,
      admittedAt: admittedRevision,
    },
    admittedRevision,
    runs: [],
    snapshot: { sessionId: 'session-1', turnId: `turn-${id}`, runId: `run-${id}`, status: 'admitted' },
  }
}

function failed(turnId: string, failureMessage: string): NonNullable<SessionState['root']>['snapshot'] {
  const keys = { sessionId: 'session-1', turnId, runId: 'run-x' }
  return { ...keys, status: 'failed', failureClass: 'backend_error', failureMessage, terminalEventId: 'event-1' }
}

function queuePatch(state: SessionState, { kind, pick, text }: WalkStep, id: string): Partial<SessionState> {
  const { queue } = state
  const index = pick % Math.max(1, queue.length)
  const chosen = queue[index]
  const changed = (next: SessionState['queue']): Partial<SessionState> => ({
    queue: next,
    queueRevision: state.queueRevision + 1,
  })
  if (kind === 'queue_add') {
    const entry = {
      entryId: `entry-${id}`,
      messageId: `message-${id}`,
      content: { text },
      revision: 1,
      submittedBy: actor,
    }
    const order = (queue.at(-1)?.order ?? 0) + 1
    return changed([...queue, { order, entry: { ...entry, placement: 'next_turn', state: 'queued' } }])
  }
  if (chosen === undefined) return {}
  if (kind === 'queue_edit') {
    const entry = { ...chosen.entry, content: { text }, revision: chosen.entry.revision + 1 }
    return changed(queue.map(r => (r === chosen ? { ...chosen, entry } : r)))
  }
  if (kind === 'queue_remove') return changed(queue.filter(r => r !== chosen))
  if (kind === 'queue_reorder') {
    return changed([{ ...chosen, order: (queue[0]?.order ?? 0) - 1 }, ...queue.filter(r => r !== chosen)])
  }
  return {}
}

function listPatch(state: SessionState, { kind, pick, text }: WalkStep, id: string): Partial<SessionState> {
  const { transcript, interactions } = state
  if (kind === 'interaction_open') {
    const keys = {
      interactionId: `interaction-${id}`,
      sessionId: 'session-1',
      turnId: 'turn-1',
      runId: 'run-1',
      revision: 1,
    }
    const request = { kind: 'question' as const, questions: [{ question: text, options: [] }] }
    const snapshot = { ...keys, request, status: 'pending' as const, outcome: null }
    const order = (interactions.at(-1)?.order ?? 0) + 1
    return { interactions: [...interactions, { snapshot, order, openedAt: state.at }] }
  }
  if (kind === 'interaction_settle') {
    return { interactions: interactions.filter((_, i) => i !== pick % Math.max(1, interactions.length)) }
  }
  if (kind === 'entry_append') {
    const keys = { seq: state.nextSeq, id: `entry-${id}`, turnId: 'turn-1', at: state.at }
    const entry: TranscriptEntry = { ...keys, kind: 'notice', text }
    return { transcript: [...transcript, { entry, bytes: text.length }], nextSeq: state.nextSeq + 1 }
  }
  if (kind === 'entry_change') {
    const index = pick % Math.max(1, transcript.length)
    return { transcript: transcript.map((l, i) => (i === index ? { ...l, entry: { ...l.entry, at: pick } } : l)) }
  }
  if (kind === 'seal') return { transcript: transcript.slice(pick % (transcript.length + 1)) }
  return {}
}
