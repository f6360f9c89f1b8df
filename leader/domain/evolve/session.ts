import type { DomainEvent } from '../../../schema/events.ts'
import type { SessionState } from '../state.ts'
import type { TransitionMeta } from './meta.ts'
import { liveEntry } from './transcript.ts'

/** Facts about the header. Every one but creation is one header write. */
export function evolveSession(state: SessionState, event: DomainEvent, meta: TransitionMeta): SessionState {
  if (event.type === 'session_created') return { ...state, header: event.payload.header }
  const { header } = state
  if (header === null) return state
  const revision = header.revision + 1
  switch (event.type) {
    case 'session_updated':
      return { ...state, header: { ...header, ...event.payload.patch, revision } }
    case 'session_deleted':
      return { ...state, isDeleted: true, queue: [], interactions: [] }
    case 'session_forked': {
      const { tail, throughSeq } = event.payload
      return { ...state, transcript: tail.map(liveEntry), nextSeq: throughSeq + 1 }
    }
    case 'session_archived':
      return { ...state, header: { ...header, isArchived: true, revision } }
    case 'session_unarchived':
      return { ...state, header: { ...header, isArchived: false, revision } }
    case 'agent_plan_reported':
      return { ...state, plan: { ...state.plan, agentPlan: { entries: event.payload.entries, at: state.at } } }
    case 'agent_session_remembered': {
      const { backend, agentSessionId } = event.payload
      const known = state.agentSession
      const { process = null, processEpoch = 0 } = known?.backend === backend ? known : {}
      return { ...state, agentSession: { backend, agentSessionId, process, processEpoch } }
    }
    case 'process_started': {
      const { process } = event.payload
      const agentSessionId = state.agentSession?.agentSessionId ?? null
      return {
        ...state,
        agentSession: { backend: header.backend, agentSessionId, process, processEpoch: meta.epochNumber },
      }
    }
    default:
      return state
  }
}
