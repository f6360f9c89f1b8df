import type { PlanExecution, PlanProposal } from '../../../../schema/entities/plan.ts'
import type { PlanProjection } from '../../../../schema/entities/projection.ts'
import type { LeaderConnection } from '../../../client/types.ts'
import { commandText } from '../../../view/command-text.ts'
import { nearest } from '../../../view/nearest.ts'
import { latestProposalWords } from '../../../view/words.ts'
import type { CommandBody, CommandContext, CommandInput, Outcome } from '../../context.ts'
import { CliFailure, usage } from '../../failure.ts'
import { followSession, LOST_AFTER_MS } from '../../follow/followed-session.ts'
import { newId } from '../../ids.ts'
import { readText } from '../../input/text-input.ts'
import { resolveSession } from '../../reach/named-session.ts'
import { planText } from './plan-text.ts'

/** What a verb works with. */
interface Call {
  readonly context: CommandContext
  readonly connection: LeaderConnection
  readonly sessionId: string
  /** What stands behind the verb. */
  readonly words: readonly string[]
  readonly options: CommandInput['options']
}

const VERBS: Readonly<Record<string, (call: Call) => Promise<Outcome>>> = {
  show,
  approve,
  revise,
  abandon,
  resume,
  cancel,
}

/** `headwater plan`. */
export const body: CommandBody = async (context, { args: [typed = '', verb = 'show', ...words], options }) => {
  const run = Object.hasOwn(VERBS, verb) ? VERBS[verb] : undefined
  if (run === undefined) {
    const [near] = nearest(verb, Object.keys(VERBS))
    throw usage(
      `unknown verb '${verb}'${near === undefined ? '' : `; did you mean ${near}?`}`,
      'headwater plan ID show',
    )
  }
  if (run !== revise && words.length > 0) throw usage(`${verb} takes no text.`, `headwater plan ID ${verb}`)
  if (run === approve && options.revision === undefined) {
    throw usage('Which revision is approved? Say the one that was read.', 'headwater plan ID approve --revision 2')
  }
  const connection = await context.connect({ spawn: 'known_root' })
  const sessionId = await resolveSession(context, connection, typed)
  return run({ context, connection, sessionId, words, options })
}

async function readPlan({ context, connection, sessionId }: Call): Promise<PlanProjection> {
  const followed = await followSession(context, connection, sessionId, { lostAfterMs: LOST_AFTER_MS })
  const { plan } = followed.current
  await followed.close()
  return plan
}

async function show(call: Call): Promise<Outcome> {
  const plan = await readPlan(call)
  const text = planText(call.context.out, plan)
  const next = text === '' ? 'nothing is planned' : nextText(call, plan)
  if (next !== undefined) say(call, next)
  return { result: plan, text }
}

/** What can be decided now. */
function nextText(
  { sessionId }: Call,
  { latestProposal, activeExecution, lastExecution }: PlanProjection,
): string | undefined {
  if (latestProposal?.status === 'pending_approval') {
    const verb = (rest: string) => `headwater plan ${sessionId} ${rest}`
    return `to decide: ${verb(`approve --revision ${latestProposal.revision}`)}, or revise TEXT, or abandon`
  }
  const isInterrupted = activeExecution === null && lastExecution?.status === 'interrupted'
  return isInterrupted ? `to go on: headwater plan ${sessionId} resume, or cancel` : undefined
}

function say({ context }: Pick<Call, 'context'>, text: string): void {
  context.notices.notice(commandText(text, context.flags))
}

/** The proposal that waits for a decision. */
function pendingProposal({ sessionId }: Call, { latestProposal }: PlanProjection): PlanProposal {
  if (latestProposal?.status === 'pending_approval') return latestProposal
  throw refused(
    sessionId,
    latestProposal === null
      ? 'No plan was proposed.'
      : `No plan waits for approval; the latest: ${latestProposalWords(latestProposal)}.`,
  )
}

function interruptedExecution({ sessionId }: Call, { activeExecution, lastExecution }: PlanProjection): PlanExecution {
  if (lastExecution?.status === 'interrupted') return lastExecution
  throw refused(sessionId, activeExecution === null ? 'No plan is interrupted.' : 'The plan is being carried out.')
}

function refused(sessionId: string, message: string, detail?: object): CliFailure {
  return new CliFailure('operation_conflict', message, { detail, next: `headwater plan ${sessionId} show` })
}

/** What was read is what is approved: the plan as it was when the latest revision was the named one. Source: P4, P10. */
async function approve(call: Call): Promise<Outcome> {
  const { connection, sessionId, options, context } = call
  const plan = await readPlan(call)
  const { proposalId, revision } = pendingProposal(call, plan)
  const named = options.revision as number
  if (named !== revision) {
    const detail = { proposalId, revision, storeVersion: plan.storeVersion }
    throw refused(
      sessionId,
      `The plan is at revision ${revision}, not ${named}; read it again before it is approved.`,
      detail,
    )
  }
  const expected = { proposalId, expectedRevision: named, expectedStoreVersion: plan.storeVersion }
  return started(
    call,
    await connection.startPlanTurn(
      { kind: 'approve_proposal', sessionId, ...expected, turnId: newId() },
      { signal: context.signal },
    ),
  )
}

async function resume(call: Call): Promise<Outcome> {
  const { connection, sessionId, context } = call
  const { executionId } = interruptedExecution(call, await readPlan(call))
  return started(
    call,
    await connection.startPlanTurn(
      { kind: 'resume_execution', sessionId, executionId, turnId: newId() },
      { signal: context.signal },
    ),
  )
}

type Started = Awaited<ReturnType<LeaderConnection['startPlanTurn']>>

function started({ context, sessionId }: Call, result: Started): Outcome {
  say({ context }, `the turn has started; to look: headwater watch ${sessionId}`)
  return { result, text: `${result.plan.executionId}\t${result.turn.turnId}` }
}

async function revise(call: Call): Promise<Outcome> {
  const { sessionId, words, context } = call
  const feedback = await readText(context, words, 'headwater plan ID revise "Leave the tests as they are"')
  const { proposalId } = pendingProposal(call, await readPlan(call))
  const outcome = await decided(call, { kind: 'request_revision', sessionId, proposalId, feedback })
  say(call, `kept with the plan; to have a new one made, say so: headwater send ${sessionId} TEXT`)
  return outcome
}

async function abandon(call: Call): Promise<Outcome> {
  const { sessionId } = call
  const { proposalId } = pendingProposal(call, await readPlan(call))
  const outcome = await decided(call, { kind: 'abandon_proposal', sessionId, proposalId })
  say(call, 'the plan is dropped, and the session is out of plan mode')
  return outcome
}

async function cancel(call: Call): Promise<Outcome> {
  const { sessionId } = call
  const { executionId } = interruptedExecution(call, await readPlan(call))
  const outcome = await decided(call, { kind: 'cancel_execution', sessionId, executionId })
  say(call, 'the plan is given up')
  return outcome
}

type Wish = Parameters<LeaderConnection['controlPlan']>[0]

async function decided({ connection, context }: Call, wish: Wish): Promise<Outcome> {
  return { result: await connection.controlPlan(wish, { signal: context.signal }), text: '' }
}
