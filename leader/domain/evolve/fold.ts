import type { SessionHeader, SessionStatus } from '../../../schema/entities/session.ts'
import type { TranscriptEntry } from '../../../schema/entities/transcript.ts'
import type { DomainEvent, LedgerEvent } from '../../../schema/events.ts'
import { activeTurn, type SessionState } from '../state.ts'
import { evolveInteraction } from './interaction.ts'
import type { TransitionMeta } from './meta.ts'
import { evolvePlan } from './plan.ts'
import { evolveQueue } from './queue.ts'
import { evolveSession } from './session.ts'
import { evolveTask, withTasksRevision } from './task.ts'
import { evolveTranscript, sealTranscript, withSealedCalls } from './transcript.ts'
import { evolveTurn } from './turn.ts'

/** A state, and the transcript entries that left it for a sealed segment. */
export interface Folded {
  readonly state: SessionState
  readonly sealed: readonly TranscriptEntry[]
}

/**
 * Applies the events of one transition. Total: unknown event types and facts about turns that are not the newest leave the state as it is,
 * so any ledger can be folded. Source: A8.
 */
export function fold(
  state: SessionState,
  events: readonly (DomainEvent | LedgerEvent)[],
  meta: TransitionMeta,
): Folded {
  const kept = checkpointState(events)
  if (kept !== null) return { state: kept, sealed: [] }
  let next: SessionState = { ...state, revision: meta.revision, at: meta.at }
  for (const event of events) next = evolve(next, event as DomainEvent, meta)
  if (next.queue !== state.queue) next = { ...next, queueRevision: state.queueRevision + 1 }
  next = withActivity(withTasksRevision(next, state), events, meta)
  const { transcript, sealed } = sealTranscript(next.transcript)
  return { state: transcript === next.transcript ? next : withSealedCalls({ ...next, transcript }, sealed), sealed }
}

/** The state that a checkpoint keeps; null for the events of any other record. Source: L6. */
export function checkpointState(events: readonly (DomainEvent | LedgerEvent)[]): SessionState | null {
  const [first] = events
  return first?.type === 'ledger_compacted' ? (first.payload.state as unknown as SessionState) : null
}

function evolve(state: SessionState, event: DomainEvent, meta: TransitionMeta): SessionState {
  const session = evolveSession(state, event, meta)
  const turn = evolveTurn(session, event, meta)
  const queue = evolveQueue(turn, event, meta)
  const interaction = evolveInteraction(queue, event, meta)
  const plan = evolvePlan(interaction, event, meta)
  return evolveTranscript(evolveTask(plan, event), event, meta)
}

/** `status` and `lastActivityAt` of the header, derived; they do not count as header writes. Source: section S, S7. */
function withActivity(
  state: SessionState,
  events: readonly { readonly type: string }[],
  meta: TransitionMeta,
): SessionState {
  if (state.header === null) return state
  const isActivity =
    typeof meta.actor === 'object' || events.some(e => e.type === 'turn_admitted' || e.type === 'turn_settled')
  const lastActivityAt = isActivity ? Math.max(state.header.lastActivityAt, meta.at) : state.header.lastActivityAt
  const status = statusOf(state)
  if (status === state.header.status && lastActivityAt === state.header.lastActivityAt) return state
  const header: SessionHeader = { ...state.header, status, lastActivityAt }
  return { ...state, header }
}

function statusOf(state: SessionState): Exclude<SessionStatus, 'damaged'> {
  const turn = activeTurn(state)
  if (turn === null) return 'idle'
  return turn.snapshot.status === 'waiting_for_user' ? 'waiting_for_user' : 'running'
}
