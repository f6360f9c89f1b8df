import type { InterruptionReason } from '../../../schema/entities/plan.ts'
import type { QueueEntry } from '../../../schema/entities/queue.ts'
import type { Admission, RunStatus } from '../../../schema/entities/turn.ts'
import { type DomainEvent, eventIdAt, type RunOrigin } from '../../../schema/events.ts'
import { type DecideContext, type Decision, type Effect, event, refuse, sealBlocks } from '../decision.ts'
import { activeTurn, type RootTurn, type SessionState } from '../state.ts'
import { interruptPlan } from './plan/interrupt.ts'
import { closeInteractions, parkAll } from './turn.ts'

/** How a run ended. Source: T11. */
export type RunEnding =
  | { readonly kind: 'completed' }
  | { readonly kind: 'failed'; readonly failureClass: string; readonly failureMessage?: string }
  | { readonly kind: 'cancelled'; readonly abortSource: string }

/** Where the run of an admission comes from; what does not apply is absent. Source: T3, T4. */
export function originOf(admission: Admission): RunOrigin {
  const { execution } = admission
  switch (execution.kind) {
    case 'external_message':
    case 'plan':
      return {}
    case 'regenerate':
      return { regeneratedFromTurnId: execution.sourceTurnId }
    case 'linked_child_initial':
    case 'claimed_agent_graph_intent':
      return { agentId: execution.agentId, agentName: execution.agentName }
    case 'linked_child_resume':
      return { agentId: execution.agentId, agentName: execution.agentName, resumedFromRunId: execution.sourceRunId }
    case 'linked_child_provider_retry':
      return { agentId: execution.agentId, agentName: execution.agentName, retriedFromRunId: execution.sourceRunId }
  }
}

/** The user's message as its admission holds it; none for a provider retry. Source: T1, X4. */
export function userMessageOf(admission: Admission, at: number): DomainEvent[] {
  const { turnId, runId, userMessageId, normalizedInput, submittedBy } = admission
  if (userMessageId === null || normalizedInput === null) return []
  return [
    event('user_message_appended', {
      turnId,
      runId,
      messageId: userMessageId,
      content: normalizedInput,
      submittedBy,
      at,
    }),
  ]
}

/** Run started and user message together: the second transition of a turn. Source: T1. */
export function startEvents(admission: Admission, at: number): DomainEvent[] {
  const { turnId, runId } = admission
  return [event('run_started', { turnId, runId, ...originOf(admission) }), ...userMessageOf(admission, at)]
}

/** Starts the admitted turn's run; nothing to do when it ended meanwhile. */
export function decideRunStart(state: SessionState, turnId: string, context: DecideContext): Decision {
  const { root } = state
  const isWaiting = root !== null && root.admission.turnId === turnId && root.snapshot.status === 'admitted'
  if (!isWaiting) return refuse('operation_conflict', 'the turn does not wait for its run')
  return { kind: 'accept', events: startEvents(root.admission, context.at), result: () => null }
}

/** Takes queued steering under a lease. Source: Q5. */
export function decidePull(state: SessionState, run: { turnId: string; runId: string }): Decision {
  const entries: QueueEntry[] = state.queue
    .filter(r => r.entry.placement === 'current_turn' && r.entry.state === 'queued' && r.entry.heldBy === undefined)
    .map(r => r.entry)
  if (entries.length === 0) return { kind: 'accept', events: [], result: () => [] }
  const entryIds = entries.map(e => e.entryId)
  return { kind: 'accept', events: [event('queue_entries_pulled', { ...run, entryIds })], result: () => entries }
}

/** Delivered: the steer is in the ledger, and so in the transcript. Source: Q5. */
export function decideAck(
  state: SessionState,
  run: { turnId: string; runId: string },
  entryIds: readonly string[],
  context: DecideContext,
): Decision {
  const delivered = leased(state, entryIds).map(({ entryId, messageId, content, submittedBy }) =>
    event('steering_delivered', { ...run, entryId, messageId, content, submittedBy }),
  )
  const events = delivered.length === 0 ? [] : [...sealBlocks(context), ...delivered]
  return { kind: 'accept', events, result: () => null }
}

/** Not taken: the entries go back to the head. Source: Q5. */
export function decideNack(
  state: SessionState,
  run: { turnId: string; runId: string },
  ids: readonly string[],
): Decision {
  const entryIds = leased(state, ids).map(e => e.entryId)
  const events = entryIds.length === 0 ? [] : [event('queue_entries_returned', { ...run, entryIds })]
  return { kind: 'accept', events, result: () => null }
}

function leased(state: SessionState, entryIds: readonly string[]): QueueEntry[] {
  return state.queue.map(r => r.entry).filter(e => e.state === 'in_flight' && entryIds.includes(e.entryId))
}

/** Tool calls of a run that have no outcome become `unknown`: they are never run again. Source: X11. */
export function closeTools(state: SessionState, runId: string): DomainEvent[] {
  const { root } = state
  const isRoot = root !== null && root.admission.runId === runId
  const sealed = isRoot
    ? (root.sealedCalls ?? []).map(toolCallId => ({ turnId: root.admission.turnId, toolCallId }))
    : []
  const live = state.transcript.flatMap(({ entry }) => {
    const isOpen = entry.kind === 'tool' && (entry.status === 'pending' || entry.status === 'in_progress')
    return isOpen && entry.runId === runId ? [entry] : []
  })
  return [...sealed, ...live].map(({ turnId, toolCallId }) =>
    event('tool_ended', { turnId, runId, toolCallId, status: 'unknown', output: null }),
  )
}

/** The events that end a run whose turn is `root`; `before` of them stand earlier in the same transition. Source: T11, T12. */
export function terminalEvents(state: SessionState, root: RootTurn, end: RunEnding, before: number): DomainEvent[] {
  const { turnId, runId } = root.admission
  const eventId = eventIdAt(state.revision + 1, before)
  const keys = { turnId, runId, eventId }
  const settled = event('turn_settled', { turnId, runId, terminalEventId: eventId })
  switch (end.kind) {
    case 'completed':
      return [event('run_completed', keys), settled]
    case 'cancelled':
      return [event('run_cancelled', { ...keys, abortSource: end.abortSource }), settled]
    case 'failed': {
      const { failureClass, failureMessage } = end
      const message = failureMessage === undefined ? {} : { failureMessage }
      return [event('run_failed', { ...keys, failureClass, ...message }), settled]
    }
  }
}

/**
 * The terminal transition of the active turn: open text sealed, tools without outcome closed, interactions closed, leases returned, the
 * queue parked where it is not to be handed on, and a plan interrupted that the turn leaves undone. A turn that never started its run gets
 * both here. Source: T8, T9, T11, T12, Q5, Q9, P11.
 */
export function decideEnd(
  state: SessionState,
  run: { turnId: string; runId: string },
  end: RunEnding,
  context: DecideContext & { readonly isDraining: boolean },
): Decision {
  const root = activeTurn(state)
  if (root === null || root.admission.runId !== run.runId) return { kind: 'accept', events: [], result: () => null }
  const events: DomainEvent[] = []
  const status: RunStatus | undefined = root.runs.find(r => r.runId === run.runId)?.status
  if (status === undefined) events.push(...startEvents(root.admission, context.at))
  const closing = closeInteractions(state, 'turn_terminal', context)
  events.push(...(closing.events.length > 0 ? closing.events : sealBlocks(context)), ...closeTools(state, run.runId))
  const inFlight = state.queue.filter(r => r.entry.state === 'in_flight').map(r => r.entry.entryId)
  if (inFlight.length > 0) events.push(event('queue_entries_returned', { ...run, entryIds: inFlight }))
  const isHandedOn = end.kind !== 'cancelled' && !context.isDraining
  if (!isHandedOn) events.push(...parkWith(state, inFlight, context.isDraining || isShutdown(end)))
  const interruption = interruptionBy(end, context.isDraining)
  if (interruption !== null) events.push(...interruptPlan(state, interruption))
  events.push(...terminalEvents(state, root, end, events.length))
  const effects: Effect[] = [...closing.effects, ...(isHandedOn ? [{ kind: 'hand_on' as const }] : [])]
  return { kind: 'accept', events, result: () => null, effects }
}

/** Why the end of a turn interrupts a plan; null for one that leaves it active. Source: P11, E6. */
function interruptionBy(end: RunEnding, isDraining: boolean): InterruptionReason | null {
  if (isDraining || isShutdown(end)) return 'leader_stopped'
  return end.kind === 'completed' ? null : end.kind === 'failed' ? 'turn_failed' : 'turn_cancelled'
}

const isShutdown = (end: RunEnding): boolean => end.kind === 'cancelled' && end.abortSource === 'leader_shutdown'

function parkWith(state: SessionState, returned: readonly string[], isLeaderStopping: boolean): DomainEvent[] {
  const reason = isLeaderStopping ? 'leader_stopped' : 'turn_stopped'
  if (returned.length === 0) return parkAll(state, reason)
  const waiting = state.queue.filter(r => r.entry.state !== 'parked').map(r => r.entry.entryId)
  const entryIds = [...returned, ...waiting.filter(id => !returned.includes(id))]
  return [event('queue_entries_parked', { entryIds, reason })]
}
