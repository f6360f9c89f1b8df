import { advancePlan, type RefPlanContent, submitPlan } from './plans.ts'
import { activeTurn, type RefRequest, type RefRoot, type RefSession, type RefTurn, show } from './state.ts'
import { changeTask, type RefTask, type RefTaskChange } from './tasks.ts'
import { endTurn } from './turns.ts'

/** What a run does to its session. */
export type RefRunStep =
  | { readonly kind: 'text'; readonly messageId: string; readonly text: string }
  | { readonly kind: 'notice'; readonly text: string }
  | { readonly kind: 'tool_start' | 'tool_end'; readonly toolCallId: string }
  | { readonly kind: 'pull' }
  | { readonly kind: 'ack' | 'nack' }
  | { readonly kind: 'ask'; readonly interactionId: string; readonly request: RefRequest }
  | { readonly kind: 'plan_submit'; readonly content: RefPlanContent }
  | { readonly kind: 'plan_step' }
  | { readonly kind: 'task_create'; readonly task: RefTask }
  | { readonly kind: 'task_update'; readonly change: RefTaskChange }
  /** Something the leader had to refuse, and did. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'end'; readonly failureClass: string | null }

/** Does one step of the active turn's run. */
export function takeRunStep(root: RefRoot, session: RefSession, step: RefRunStep): void {
  const turn = activeTurn(session)
  if (turn === null) throw new Error('no turn is active')
  const isSealed = step.kind === 'notice' || step.kind === 'tool_start' || step.kind === 'tool_end'
  if (isSealed) session.openText = null
  switch (step.kind) {
    case 'text':
      if (session.openText !== null && session.openText !== step.messageId) session.revision += 1
      session.openText = step.messageId
      session.transcript.push({ kind: 'assistant', id: step.messageId, turnId: turn.turnId, text: step.text })
      return
    case 'notice':
      session.revision += 1
      session.transcript.push({ kind: 'notice', turnId: turn.turnId, text: step.text })
      return
    case 'tool_start':
      session.revision += 1
      session.transcript.push({ kind: 'tool', id: step.toolCallId, turnId: turn.turnId, status: 'in_progress' })
      return
    case 'tool_end':
      session.revision += 1
      for (const line of session.transcript) if (line.id === step.toolCallId) line.status = 'completed'
      return
    case 'plan_submit':
      submitPlan(root, session, step.content)
      return
    case 'plan_step':
      advancePlan(session)
      return
    case 'task_create':
      session.revision += 1
      session.tasks.push({ ...step.task })
      return
    case 'task_update':
      changeTask(session, step.change)
      return
    case 'refused':
      return
    case 'ask':
      ask(session, turn, step)
      return
    case 'end':
      endTurn(
        root,
        session,
        turn.turnId,
        step.failureClass === null
          ? { kind: 'completed' }
          : { ...step, kind: 'failed', failureClass: step.failureClass },
      )
      return
    default:
      lease(session, turn, step.kind)
  }
}

function lease(session: RefSession, turn: RefTurn, kind: 'pull' | 'ack' | 'nack'): void {
  const isMeant = (entry: RefSession['queue'][number]): boolean =>
    kind === 'pull'
      ? entry.placement === 'current_turn' && entry.state === 'queued' && entry.heldBy === undefined
      : entry.state === 'in_flight'
  const meant = session.queue.filter(isMeant)
  if (meant.length === 0) return
  session.revision += 1
  session.queueRevision += 1
  const rest = session.queue.filter(entry => !meant.includes(entry))
  if (kind === 'ack') {
    session.openText = null
    session.queue = rest
    for (const { entryId, messageId, content } of meant) {
      session.fates[entryId] = 'delivered'
      session.transcript.push({ kind: 'user', id: messageId, turnId: turn.turnId, content, isSteering: true })
    }
    return
  }
  for (const entry of meant) {
    entry.state = kind === 'pull' ? 'in_flight' : 'queued'
    entry.revision += 1
  }
  if (kind === 'nack') session.queue = [...meant, ...rest]
}

/** A person is asked, unless the session's mode has the answer. */
function ask(session: RefSession, turn: RefTurn, step: { interactionId: string; request: RefRequest }): void {
  session.revision += 1
  const { interactionId, request } = step
  const optionId = answerOfMode(session, request)
  const { turnId, runId } = turn
  const keys = { interactionId, turnId, runId, request }
  if (optionId === null) {
    session.interactions.push({ ...keys, revision: 1, status: 'pending', outcome: null })
    turn.status = 'waiting_for_user'
    show(session, turn)
    return
  }
  session.openText = null
  const answer = { kind: 'permission', optionId }
  session.interactions.push({
    ...keys,
    revision: 2,
    status: 'answered',
    outcome: { kind: 'answer', answer, by: 'leader' },
  })
  session.transcript.push({ kind: 'interaction', id: interactionId, turnId, outcome: 'answer' })
}

function answerOfMode(session: RefSession, request: RefRequest): string | null {
  if (request.kind !== 'permission') return null
  const isAllowed = session.permissionMode === 'bypass' || session.alwaysAllowed?.includes(request.toolKind) === true
  return isAllowed ? (request.options.find(option => option.kind === 'allow_once')?.optionId ?? null) : null
}
