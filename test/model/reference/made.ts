import { type Decide, headerView, type RefCommand, type Verdict } from './commands.ts'
import { ANYTHING } from './match.ts'
import { changePlan } from './plans.ts'
import { activeTurn, hasEnded, newSession, type RefRoot, type RefSession, unknownId } from './state.ts'
import { admit } from './turns.ts'

/** What keeps a turn from starting, or null. */
function blocked(session: RefSession): Verdict | null {
  if (session.isArchived) return { code: 'session_archived' }
  return activeTurn(session) === null ? null : { code: 'session_busy' }
}

const regenerate: Decide = (root, session, { input, actor }) => {
  const { turnId, sourceTurnId } = input as unknown as { turnId: string; sourceTurnId: string }
  if (turnId === sourceTurnId) return { code: 'operation_conflict' }
  if (session.isArchived) return { code: 'session_archived' }
  const source = session.turns.find(turn => turn.turnId === sourceTurnId)
  if (source === undefined) return { code: 'not_found' }
  if (activeTurn(session) !== null) return { code: 'session_busy' }
  session.revision += 1
  const { content, maxSteps } = source
  const steps = maxSteps === undefined ? {} : { maxSteps }
  const made = { turnId, content, userMessageId: unknownId(root), submittedBy: actor, ...steps }
  admit(root, session, { ...made, kind: 'regenerate', source: sourceTurnId })
  return { result: { kind: 'started' }, turn: { turnId, as: 'turn' } }
}

const planControl: Decide = (root, session, { input }) => {
  const why = blocked(session)
  if (why !== null) return why
  const change = changePlan(root, session, input)
  if ('result' in change) session.revision += 1
  return change
}

const planTurn: Decide = (root, session, { input, actor }) => {
  const why = blocked(session)
  if (why !== null) return why
  const change = changePlan(root, session, input)
  if ('code' in change) return change
  session.revision += 1
  const turnId = String(input.turnId)
  const title = session.plan.executions.find(one => one.executionId === change.result.executionId)?.title ?? ''
  const text = input.kind === 'approve_proposal' ? `Carry out the approved plan: ${title}` : `Resume the plan: ${title}`
  const made = { turnId, content: { text }, userMessageId: unknownId(root), submittedBy: actor, kind: 'plan' }
  admit(root, session, made)
  return { result: { plan: change.result }, turn: { turnId, as: 'turn' } }
}

const remove: Decide = (_root, session, { input }) => {
  const { expectedRevision } = input as unknown as { expectedRevision: number }
  if (expectedRevision !== session.headerRevision) {
    return { result: { kind: 'revision_conflict', expected: expectedRevision, actual: session.headerRevision } }
  }
  if (activeTurn(session) !== null) return { code: 'session_busy' }
  session.isDeleted = true
  session.effects = []
  return { result: { kind: 'deleted' } }
}

/** What is dropped of the ledger changes nothing that anybody sees. */
const compact: Decide = () => ({ result: { bytesBefore: ANYTHING, bytesAfter: ANYTHING } })

/** A session with the transcript of another one up to the end of a turn. */
export function fork(root: RefRoot, existing: RefSession | undefined, { input }: RefCommand): Verdict {
  if (existing !== undefined) return { code: 'operation_conflict' }
  const source = root.sessions[input.sessionId]
  if (source === undefined || source.isDeleted) return { code: 'not_found' }
  const turn = source.turns.find(one => one.turnId === input.fromTurnId)
  if (turn === undefined) return { code: 'not_found' }
  if (!hasEnded(turn)) return { code: 'session_busy' }
  const { title, titleIsManual, cwd, backend, model, permissionMode, collaborationMode } = source
  const made = newSession({ sessionId: String(input.newSessionId), cwd, backend })
  Object.assign(made, { title, titleIsManual, permissionMode, collaborationMode })
  if (model !== undefined) made.model = model
  made.transcript.push(...structuredClone(source.transcript.slice(0, turn.endLine)))
  root.sessions[made.sessionId] = made
  return { result: { session: headerView(made) } }
}

/** Commands that make a turn from what is there, decide about plans, or end a session. */
export const DECIDE_MADE: Readonly<Record<string, Decide>> = {
  'turn.regenerate': regenerate,
  'plan.control': planControl,
  'plan.turn.start': planTurn,
  'session.delete': remove,
  'session.compact': compact,
}
