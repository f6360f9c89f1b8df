import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decideSubmitPlan } from '../../leader/domain/decide/plan/progress.ts'
import type { Decision } from '../../leader/domain/decision.ts'
import { fold } from '../../leader/domain/evolve/fold.ts'
import { recover } from '../../leader/domain/recover.ts'
import { activeTurn, initialState, type SessionState } from '../../leader/domain/state.ts'
import { decodeJson } from '../../leader/session/record.ts'
import { planRows } from '../../leader/session/rows/plan-rows.ts'
import { PlanEventType, type PlanExecution, type PlanProposal, type StepStatus } from '../../schema/entities/plan.ts'
import { DomainSession, type InputOf } from '../support/domain/domain-session.ts'
import { endTurn, planOf, update } from '../support/domain/planning.ts'
import { assertProperty } from '../support/property.ts'

const KINDS = [
  ...['start', 'submit', 'submit', 'update', 'update', 'finish', 'complete', 'fail', 'cancel_turn'],
  ...[
    'request_revision',
    'abandon_proposal',
    'approve_proposal',
    'approve_proposal',
    'resume_execution',
    'cancel_execution',
  ],
  ...['approve_in_turn', 'resume_in_turn', 'restart'],
] as const
const steps = fc.array(fc.record({ kind: fc.constantFrom(...KINDS), pick: fc.nat(999) }), {
  maxLength: 60,
  size: 'max',
})
const STATUSES: readonly StepStatus[] = ['pending', 'in_progress', 'completed', 'skipped']
const PLAN_EVENTS: ReadonlySet<string> = new Set(PlanEventType.options)

/** A session with the rows of its plans, as they would be on disk. */
class Walk {
  readonly session = new DomainSession().create()
  readonly proposals = new Map<string, PlanProposal>()
  readonly executions = new Map<string, PlanExecution>()
  #serial = 0

  step(kind: (typeof KINDS)[number], pick: number): void {
    this.#serial += 1
    const { session } = this
    const before = session.state
    const count = session.transitions.length
    const decision = this.#decide(kind, pick)
    if (decision?.kind === 'accept') session.take(decision, 'run')
    let at: SessionState = before
    for (const { events, meta } of session.transitions.slice(count)) {
      const next = fold(at, events, meta).state
      for (const { kind: row, id, value } of planRows(at, next, events)) {
        const rows: Map<string, unknown> = row === 'proposal' ? this.proposals : this.executions
        rows.set(id, decodeJson(value as Uint8Array))
      }
      at = next
    }
    expect(at).toEqual(session.state)
  }

  #decide(kind: (typeof KINDS)[number], pick: number): Decision | null {
    const { session } = this
    const { state } = session
    const { latestProposal, storeVersion, activeExecution } = state.plan
    const turnId = `t${this.#serial}`
    const proposalId = [...this.proposals.keys()].at(pick % 3 === 0 ? 0 : -1) ?? 'none'
    const executionId = [...this.executions.keys()][pick % Math.max(1, this.executions.size)] ?? 'none'
    const named = this.executions.get(executionId)
    const found = named === undefined ? {} : { namedExecution: named }
    const expected = {
      proposalId,
      expectedRevision: (latestProposal?.revision ?? 1) - (pick % 7 === 0 ? 1 : 0),
      expectedStoreVersion: storeVersion - (pick % 5 === 0 ? 1 : 0),
    }
    const control = (input: object) =>
      session.decide('plan.control', { operationId: turnId, ...input } as unknown as InputOf<'plan.control'>, found)
    const inTurn = (input: object) =>
      session.decide('plan.turn.start', { turnId, ...input } as unknown as InputOf<'plan.turn.start'>, found)
    switch (kind) {
      case 'start':
        if (activeTurn(state) === null) session.start(turnId)
        return null
      case 'request_revision':
        return control({ kind, proposalId, feedback: 'shorter' })
      case 'abandon_proposal':
        return control({ kind, proposalId })
      case 'approve_proposal':
        return control({ kind, ...expected })
      case 'resume_execution':
      case 'cancel_execution':
        return control({ kind, executionId })
      case 'approve_in_turn':
        return inTurn({ kind: 'approve_proposal', ...expected })
      case 'resume_in_turn':
        return inTurn({ kind: 'resume_execution', executionId })
      case 'restart':
        return this.#restart()
      default:
        return this.#decideRun(kind, pick, activeExecution)
    }
  }

  #restart(): null {
    const { session } = this
    const { state, turns } = session
    const decided = recover({ state, turns, previousRootTurnId: null, context: { at: session.at, openBlocks: [] } })
    if (decided.kind !== 'recovered') throw new Error(decided.reason)
    session.apply(decided.events, 'leader')
    return null
  }

  #decideRun(kind: string, pick: number, active: PlanExecution | null): Decision | null {
    const { session } = this
    const turn = activeTurn(session.state)
    if (turn === null) return null
    if (turn.snapshot.status === 'admitted') session.startRun()
    const { turnId, runId } = turn.admission
    switch (kind) {
      case 'submit':
        return decideSubmitPlan(session.state, { turnId, runId }, planOf(`P${pick}`, 'a', 'b'), session.context())
      case 'update':
        return update(session, [
          ['a', STATUSES[pick % 4] as StepStatus, ...(pick % 3 === 0 ? [`n${pick}`] : [])] as never,
          ['b', STATUSES[(pick >> 2) % 4] as StepStatus],
        ])
      case 'finish':
        return update(
          session,
          active?.steps.map(({ id, status }) => [id, status === 'skipped' ? status : 'completed']) ?? [],
        )
      case 'complete':
        endTurn(session)
        return null
      case 'fail':
        endTurn(session, { kind: 'failed', failureClass: 'network' })
        return null
      case 'cancel_turn':
        endTurn(session, { kind: 'cancelled', abortSource: 'user_stop' })
        return null
      default:
        return null
    }
  }
}

function expectLaws({ session, proposals, executions }: Walk): void {
  const { latestProposal, activeExecution, lastExecution, storeVersion } = session.state.plan
  const events = session.transitions.flatMap(transition => transition.events)
  expect(storeVersion).toBe(events.filter(({ type }) => PLAN_EVENTS.has(type)).length)
  const active = [...executions.values()].filter(({ status }) => status === 'active')
  expect(active).toEqual(activeExecution === null ? [] : [activeExecution])
  if (lastExecution !== null) expect(executions.get(lastExecution.executionId)).toEqual(lastExecution)
  const pending = [...proposals.values()].filter(({ status }) => status === 'pending_approval')
  expect(pending).toEqual(latestProposal?.status === 'pending_approval' ? [latestProposal] : [])
  expect([...proposals.keys()]).toEqual([...proposals.keys()].sort())
  expect([...executions.keys()]).toEqual([...executions.keys()].sort())
  const approved = [...proposals.values()].filter(({ status }) => status === 'approved')
  expect([...executions.values()].map(e => [e.proposalId, e.contentDigest, e.steps.map(s => s.title)])).toEqual(
    approved.map(p => [p.proposalId, p.contentDigest, p.steps.map(s => s.title)]),
  )
  for (const planId of new Set([...proposals.values()].map(p => p.planId))) {
    const revisions = [...proposals.values()].filter(p => p.planId === planId).map(p => p.revision)
    expect(revisions).toEqual(revisions.map((_, i) => i + 1))
  }
}

test('P1 P4 P6 P12 A8 whatever is decided, rows and state tell one story: one plan waits, one is carried out, each approved once', () => {
  const outcomes = new Set<string>()
  assertProperty(
    fc.property(steps, walked => {
      const walk = new Walk()
      for (const { kind, pick } of walked) {
        walk.step(kind, pick)
        expectLaws(walk)
      }
      let state = initialState(walk.session.sessionId)
      for (const { events, meta } of walk.session.transitions) {
        state = fold(state, events, meta).state
        for (const { type } of events) outcomes.add(type)
      }
      expect(state).toEqual(walk.session.state)
    }),
  )
  expect([...PLAN_EVENTS].filter(type => !outcomes.has(type))).toEqual([])
})
