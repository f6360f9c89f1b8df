import { isTerminal, type Run, type TurnSnapshot } from '../../../schema/entities/turn.ts'
import type { DomainEvent, EventPayloads, RunOrigin } from '../../../schema/events.ts'
import type { RootTurn, SessionState } from '../state.ts'
import type { TransitionMeta } from './meta.ts'

/** Facts about turns and their runs. Only the newest root turn is state; facts about older ones change nothing here. */
export function evolveTurn(state: SessionState, event: DomainEvent, meta: TransitionMeta): SessionState {
  if (event.type === 'turn_admitted') {
    const { admission } = event.payload
    const { turnId, runId } = admission
    const snapshot: TurnSnapshot = { sessionId: state.sessionId, turnId, runId, status: 'admitted' }
    return { ...state, root: { admission, admittedRevision: meta.revision, runs: [], snapshot } }
  }
  const { root } = state
  if (root === null) return state
  const next = evolveRoot(state, root, event, meta)
  return next === root ? state : { ...state, root: next }
}

function evolveRoot(state: SessionState, root: RootTurn, event: DomainEvent, meta: TransitionMeta): RootTurn {
  switch (event.type) {
    case 'run_created':
      return isOf(root, event.payload) ? withRun(root, newRun(state, event.payload, 'created', meta.at)) : root
    case 'run_started': {
      if (!isOf(root, event.payload)) return root
      const started = withRun(root, newRun(state, event.payload, 'running', meta.at))
      return event.payload.runId === root.admission.runId ? withStatus(started, 'running') : started
    }
    case 'run_completed':
      return endRun(root, event.payload, { status: 'completed', endedAt: meta.at })
    case 'run_failed': {
      const { failureClass, failureMessage } = event.payload
      return endRun(root, event.payload, {
        status: 'failed',
        endedAt: meta.at,
        failureClass,
        ...(failureMessage === undefined ? {} : { failureMessage }),
      })
    }
    case 'run_cancelled':
      return endRun(root, event.payload, {
        status: 'cancelled',
        endedAt: meta.at,
        abortSource: event.payload.abortSource,
      })
    case 'turn_settled':
      return isOf(root, event.payload) ? settle(root, event.payload, state.nextSeq - 1) : root
    default:
      return root
  }
}

function isOf(root: RootTurn, payload: { readonly turnId: string }): boolean {
  return payload.turnId === root.admission.turnId
}

function newRun(state: SessionState, payload: EventPayloads['run_started'], status: Run['status'], at: number): Run {
  const { turnId, runId } = payload
  return { runId, turnId, sessionId: state.sessionId, status, startedAt: at, ...originOf(payload) }
}

/** Where a run comes from; what does not apply is absent. Source: T3. */
function originOf(payload: RunOrigin): RunOrigin {
  const { agentId, agentName, resumedFromRunId, retriedFromRunId, regeneratedFromTurnId } = payload
  return {
    ...(agentId === undefined ? {} : { agentId }),
    ...(agentName === undefined ? {} : { agentName }),
    ...(resumedFromRunId === undefined ? {} : { resumedFromRunId }),
    ...(retriedFromRunId === undefined ? {} : { retriedFromRunId }),
    ...(regeneratedFromTurnId === undefined ? {} : { regeneratedFromTurnId }),
  }
}

function withRun(root: RootTurn, run: Run): RootTurn {
  return { ...root, runs: [...root.runs.filter(known => known.runId !== run.runId), run] }
}

/** The first terminal event of a run counts; a second one is a fault that recovery finds in the ledger. Source: T11, X12. */
function endRun(
  root: RootTurn,
  payload: { readonly turnId: string; readonly runId: string; readonly eventId: string },
  end: Partial<Run>,
): RootTurn {
  if (!isOf(root, payload)) return root
  const runs = root.runs.map(run =>
    run.runId === payload.runId && !isTerminal(run.status as TurnSnapshot['status'])
      ? { ...run, ...end, terminalEventId: payload.eventId }
      : run,
  )
  return { ...root, runs }
}

/** The snapshot adopts the terminal event of its run. */
function settle(root: RootTurn, payload: EventPayloads['turn_settled'], endSeq: number): RootTurn {
  const run = root.runs.find(
    known => known.runId === payload.runId && known.terminalEventId === payload.terminalEventId,
  )
  if (run === undefined || isTerminal(root.snapshot.status)) return root
  return { ...root, snapshot: terminalSnapshot(root.snapshot, run), endSeq }
}

/** The snapshot of an ended run: exactly the keys of its status. Source: section T. */
export function terminalSnapshot(turn: Pick<TurnSnapshot, 'sessionId' | 'turnId' | 'runId'>, run: Run): TurnSnapshot {
  const { sessionId, turnId, runId } = turn
  const terminalEventId = run.terminalEventId as string
  const keys = { sessionId, turnId, runId }
  if (run.status === 'completed') return { ...keys, status: 'completed', terminalEventId }
  if (run.status === 'cancelled') {
    return { ...keys, status: 'cancelled', abortSource: run.abortSource ?? 'unknown', terminalEventId }
  }
  const { failureClass = 'backend_error', failureMessage } = run
  return {
    ...keys,
    status: 'failed',
    failureClass,
    ...(failureMessage === undefined ? {} : { failureMessage }),
    terminalEventId,
  }
}

/** The turn with this status in its snapshot and in the run of its admission. */
export function withStatus(root: RootTurn, status: 'running' | 'waiting_for_user'): RootTurn {
  if (isTerminal(root.snapshot.status) || root.snapshot.status === status) return root
  const { sessionId, turnId, runId } = root.snapshot
  const runs = root.runs.map(run =>
    run.runId === runId && !isTerminal(run.status as TurnSnapshot['status']) ? { ...run, status } : run,
  )
  return { ...root, runs, snapshot: { sessionId, turnId, runId, status } }
}
