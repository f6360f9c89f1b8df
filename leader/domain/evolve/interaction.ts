import type { InteractionOutcome, InteractionSnapshot } from '../../../schema/entities/interaction.ts'
import type { DomainEvent, EventPayloads } from '../../../schema/events.ts'
import type { InteractionRecord } from '../../../schema/projection/layout.ts'
import type { SessionState } from '../state.ts'
import type { TransitionMeta } from './meta.ts'
import { appendEntry } from './transcript.ts'
import { withStatus } from './turn.ts'

/** Facts about waits for a person. While one is pending, its turn is `waiting_for_user`. Source: I2, I3. */
export function evolveInteraction(state: SessionState, event: DomainEvent, meta: TransitionMeta): SessionState {
  switch (event.type) {
    case 'interaction_opened':
      return withWaiting({ ...state, interactions: [...state.interactions, open(state, event.payload, meta.at)] })
    case 'interaction_answered':
      return settle(state, event.payload.interactionId, event.payload.outcome, meta.at)
    case 'interaction_closed': {
      const { interactionId, reason } = event.payload
      return settle(state, interactionId, { kind: 'closure', reason, at: meta.at }, meta.at)
    }
    default:
      return state
  }
}

function open(state: SessionState, payload: EventPayloads['interaction_opened'], at: number): InteractionRecord {
  const { turnId, runId, interactionId, request, expiresInMs } = payload
  const snapshot: InteractionSnapshot = {
    interactionId,
    sessionId: state.sessionId,
    turnId,
    runId,
    revision: 1,
    request,
    status: 'pending',
    outcome: null,
  }
  const order = (state.interactions.at(-1)?.order ?? 0) + 1
  return { snapshot, order, openedAt: at, ...(expiresInMs === undefined ? {} : { expiresInMs }) }
}

/** The pending interaction with its outcome; it leaves the state and stays in the transcript. Source: I6. */
export function settledSnapshot(pending: InteractionSnapshot, outcome: InteractionOutcome): InteractionSnapshot {
  return { ...pending, revision: 2, status: outcome.kind === 'answer' ? 'answered' : 'closed', outcome }
}

function settle(state: SessionState, interactionId: string, outcome: InteractionOutcome, at: number): SessionState {
  const record = state.interactions.find(r => r.snapshot.interactionId === interactionId)
  if (record === undefined) return state
  const { turnId, runId, request } = record.snapshot
  const rest = { ...state, interactions: state.interactions.filter(r => r !== record) }
  const entry = { id: interactionId, turnId, runId, at, kind: 'interaction' as const, interactionId, request, outcome }
  return withWaiting(appendEntry(rest, entry))
}

function withWaiting(state: SessionState): SessionState {
  const { root } = state
  if (root === null || root.snapshot.status === 'admitted') return state
  const isWaiting = state.interactions.some(r => r.snapshot.runId === root.snapshot.runId)
  const next = withStatus(root, isWaiting ? 'waiting_for_user' : 'running')
  return next === root ? state : { ...state, root: next }
}
