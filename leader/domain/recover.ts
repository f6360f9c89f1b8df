import { isCanonicallyEqual, normalizeContent } from '../../schema/canonical.ts'
import { type Admission, claimFault } from '../../schema/entities/turn.ts'
import { type DomainEvent, eventIdAt } from '../../schema/events.ts'
import { releaseAll } from './decide/hold.ts'
import { interruptPlan } from './decide/plan/interrupt.ts'
import { originOf, startEvents, userMessageOf } from './decide/run.ts'
import { closeInteractions } from './decide/turn.ts'
import { type DecideContext, event, sealBlocks } from './decision.ts'
import { openToolCalls, type TurnFacts } from './facts.ts'
import type { SessionState } from './state.ts'

/** What recovery of one session reads: its state, and what the ledger says of the turns since the oldest unfinished one. */
export interface RecoveryInput {
  readonly state: SessionState
  readonly turns: readonly TurnFacts[]
  /** The root turn before the first of `turns`; null if there was none. */
  readonly previousRootTurnId: string | null
  readonly context: Pick<DecideContext, 'at' | 'openBlocks'>
  /** False: also a turn without a run is ended, because it may have run before its facts were cut away. Source: D2. */
  readonly mayResume?: boolean
}

/**
 * `recovered`: the events of one transition (none: nothing to do), and the turn that starts its run again before ready (X3).
 * `quarantine`: the session's facts contradict each other; it becomes read-only.
 */
export type Recovery =
  | {
      readonly kind: 'recovered'
      readonly events: readonly DomainEvent[]
      readonly resume: string | null
      readonly cases: readonly string[]
    }
  | { readonly kind: 'quarantine'; readonly reason: string }

/** Decides what a new epoch makes of a session with unfinished work. Pure and idempotent. Source: section X. */
export function recover(input: RecoveryInput): Recovery {
  const reason = findContradiction(input)
  if (reason !== null) return { kind: 'quarantine', reason }
  const { state, turns, context, mayResume = true } = input
  const cases: string[] = []
  const closing = closeInteractions(state, 'host_restarted', context)
  const events: DomainEvent[] = closing.events.length > 0 ? closing.events : sealBlocks(context)
  if (closing.effects.length > 0) cases.push('X8')
  let resume: string | null = null
  for (const facts of turns) {
    if (facts.admission === null || facts.settledBy !== null) continue
    const isNewest = facts.turnId === state.root?.admission.turnId
    const step = recoverTurn({
      state,
      facts,
      admission: facts.admission,
      isNewest,
      mayResume,
      before: events.length,
    })
    if (step.case === 'X3') resume = facts.turnId
    events.push(...step.events)
    cases.push(step.case)
  }
  const released = releaseAll(state)
  events.push(...released)
  const waiting = state.queue.filter(r => r.entry.state !== 'parked').map(r => r.entry.entryId)
  if (waiting.length > 0) {
    events.push(event('queue_entries_parked', { entryIds: waiting, reason: 'leader_restarted' }))
  }
  if (waiting.length > 0 || released.length > 0) cases.push('X10')
  const interrupted = interruptPlan(state, 'leader_restarted')
  events.push(...interrupted)
  if (interrupted.length > 0) cases.push('X9')
  return { kind: 'recovered', events, resume, cases }
}

interface TurnStep {
  readonly state: SessionState
  readonly facts: TurnFacts
  readonly admission: Admission
  readonly isNewest: boolean
  readonly mayResume: boolean
  /** Events of the transition before this turn's. */
  readonly before: number
}

function recoverTurn(step: TurnStep): { readonly case: string; readonly events: DomainEvent[] } {
  const { facts, admission } = step
  const { turnId, runId, execution } = admission
  const isResumable = execution.kind === 'external_message' || execution.kind === 'regenerate'
  if (facts.runs.length === 0) {
    if (isResumable && step.isNewest && step.mayResume) return { case: 'X3', events: [] }
    const started = isResumable ? startEvents(admission, admission.admittedAt) : closedStart(admission)
    const kind = execution.kind === 'linked_child_provider_retry' ? 'X7' : isResumable ? 'X1' : 'X6'
    return { case: kind, events: [...started, ...failed(step, started.length)] }
  }
  const restored = facts.userMessages.length === 0 ? userMessageOf(admission, admission.admittedAt) : []
  const tools = openToolCalls(facts, runId).map(toolCallId =>
    event('tool_ended', { turnId, runId, toolCallId, status: 'unknown', output: null }),
  )
  const [terminal] = facts.terminalEvents
  if (terminal !== undefined) {
    const settled = event('turn_settled', { turnId, runId, terminalEventId: terminal.eventId })
    return { case: 'X2', events: [...restored, ...tools, settled] }
  }
  const events = [...restored, ...tools]
  const kind = restored.length > 0 ? 'X4' : tools.length > 0 ? 'X11' : 'X1'
  return { case: kind, events: [...events, ...failed(step, events.length)] }
}

/** A turn that is closed without executing keeps exactly what its admission says. Source: X6, X7. */
function closedStart(admission: Admission): DomainEvent[] {
  const { turnId, runId } = admission
  const started = event('run_started', { turnId, runId, ...originOf(admission) })
  return [started, ...userMessageOf(admission, admission.admittedAt)]
}

function failed(step: TurnStep, before: number): DomainEvent[] {
  const { turnId, runId } = step.admission
  const eventId = eventIdAt(step.state.revision + 1, step.before + before)
  return [
    event('run_failed', { turnId, runId, eventId, failureClass: 'app_restarted' }),
    event('turn_settled', { turnId, runId, terminalEventId: eventId }),
  ]
}

/** Facts that cannot all be true, or null. Source: X5, X12. */
function findContradiction(input: RecoveryInput): string | null {
  let previous = input.previousRootTurnId
  for (const facts of input.turns) {
    const { admission } = facts
    if (admission === null) {
      // Facts about a turn that was admitted and settled before the first unfinished one, or that never was.
      if (facts.turnId === input.previousRootTurnId) continue
      return `turn ${facts.turnId} has facts but no admission`
    }
    if (admission.previousRootTurnId !== previous) {
      return `turn ${facts.turnId} follows ${admission.previousRootTurnId ?? 'nothing'}, not ${previous ?? 'nothing'}`
    }
    previous = facts.turnId
    const reason = findTurnContradiction(facts, admission) ?? findStateContradiction(input.state, facts, admission)
    if (reason !== null) return `turn ${facts.turnId}: ${reason}`
  }
  return null
}

/** What the session shows must follow from the ledger's facts. Source: T4, X12. */
function findStateContradiction(state: SessionState, facts: TurnFacts, admission: Admission): string | null {
  if (claimFault(admission, state.sessionId) !== null) return 'its claim names another session, turn or run'
  const snapshot = state.root?.snapshot
  if (snapshot?.turnId !== facts.turnId) return null
  const claims = 'terminalEventId' in snapshot ? snapshot.terminalEventId : null
  return claims === facts.settledBy ? null : 'its snapshot does not show what its ledger says'
}

function findTurnContradiction(facts: TurnFacts, admission: Admission): string | null {
  const { runs, userMessages, terminalEvents } = facts
  if (facts.admissions > 1) return 'it was admitted more than once'
  if (runs.length > 1) return 'it has more than one run'
  const [run] = runs
  if (run === undefined && userMessages.length > 0) return 'it has a user message without a run'
  if (run === undefined && terminalEvents.length > 0) return 'it has a terminal event without a run'
  if (run !== undefined && run.runId !== admission.runId) return 'its run is not the admitted one'
  if (run !== undefined && !hasOrigin(run, admission)) return 'the lineage of its run disagrees with its admission'
  if (terminalEvents.length > 1) return 'it has more than one terminal event'
  if (terminalEvents.some(e => e.runId !== admission.runId)) return 'its terminal event is of another run'
  if (facts.settledBy !== null && terminalEvents[0]?.eventId !== facts.settledBy) {
    return 'its snapshot claims an end without that terminal event'
  }
  return userMessages.length === 0 ? null : findMessageContradiction(facts, admission)
}

function hasOrigin(run: TurnFacts['runs'][number], admission: Admission): boolean {
  const { agentId, agentName, resumedFromRunId, retriedFromRunId, regeneratedFromTurnId } = run
  const actual = { agentId, agentName, resumedFromRunId, retriedFromRunId, regeneratedFromTurnId }
  return isCanonicallyEqual(actual, originOf(admission))
}

/** The user's message must be the admitted one, canonically. Source: X5. */
function findMessageContradiction(facts: TurnFacts, admission: Admission): string | null {
  const [message, second] = facts.userMessages
  if (message === undefined) return null
  if (second !== undefined) return 'it has more than one user message'
  if (message.messageId !== admission.userMessageId) return 'its user message is not the admitted one'
  const isSame =
    admission.normalizedInput !== null &&
    isCanonicallyEqual(normalizeContent(message.content), normalizeContent(admission.normalizedInput))
  return isSame ? null : 'its user message differs from the admitted input'
}
