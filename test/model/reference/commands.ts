import { canonical, entryView, leave, park } from './queue.ts'
import {
  activeTurn,
  hasEnded,
  type RefActor,
  type RefEntry,
  type RefRoot,
  type RefSession,
  type RefTurn,
  show,
  unknownId,
} from './state.ts'
import { admit, closePending } from './turns.ts'

/** A command as a client gives it. */
export interface RefCommand {
  readonly operation: string
  readonly input: Readonly<Record<string, unknown>> & { readonly sessionId: string }
  readonly actor: RefActor
}

/** A result to be stored; `turn` names the turn whose snapshot is read into it. A refusal stores nothing. */
export type Verdict =
  | { readonly result: unknown; readonly turn?: { readonly turnId: string; readonly as: 'turn' | 'self' } }
  | { readonly code: string }

const BUSY: Verdict = { code: 'session_busy' }
const ARCHIVED: Verdict = { code: 'session_archived' }

/** A header as clients see it, without times. */
export function headerView(session: RefSession): Readonly<Record<string, unknown>> {
  const { sessionId, title, titleIsManual, cwd, backend, model, permissionMode, collaborationMode, isArchived } =
    session
  const { alwaysAllowed, headerRevision } = session
  const turn = activeTurn(session)
  const status = turn === null ? 'idle' : turn.status === 'waiting_for_user' ? 'waiting_for_user' : 'running'
  return {
    sessionId,
    title,
    titleIsManual,
    cwd,
    backend,
    ...(model === undefined ? {} : { model }),
    permissionMode,
    collaborationMode,
    ...(alwaysAllowed === undefined ? {} : { alwaysAllowed }),
    status,
    isArchived,
    revision: headerRevision,
  }
}

/** A command on a session that is there. */
export type Decide = (root: RefRoot, session: RefSession, command: RefCommand) => Verdict

const update: Decide = (_root, session, { input }) => {
  const { expectedRevision, patch } = input as unknown as { expectedRevision: number; patch: Record<string, unknown> }
  if (expectedRevision !== session.headerRevision) {
    return { result: { kind: 'revision_conflict', expected: expectedRevision, actual: session.headerRevision } }
  }
  const changesMode = (['collaborationMode', 'permissionMode'] as const).some(
    key => patch[key] !== undefined && patch[key] !== session[key],
  )
  if (changesMode && activeTurn(session) !== null) return BUSY
  const allowed = patch.alwaysAllowed as readonly string[] | undefined
  if (allowed?.some(tool => !(session.alwaysAllowed ?? []).includes(tool)) === true) return { code: 'invalid_request' }
  const next = { ...patch, ...(patch.title === undefined ? {} : { titleIsManual: patch.title !== '' }) }
  const before = session as unknown as Record<string, unknown>
  const isChanged = Object.entries(next).some(([key, value]) => JSON.stringify(before[key]) !== JSON.stringify(value))
  if (isChanged) {
    Object.assign(session, next)
    session.headerRevision += 1
    session.revision += 1
  }
  return { result: { kind: 'committed', session: headerView(session) } }
}

const archive =
  (isArchived: boolean): Decide =>
  (_root, session) => {
    if (session.isArchived !== isArchived) {
      const isBusy = activeTurn(session) !== null || session.queue.length > 0
      if (isBusy || session.interactions.some(one => one.status === 'pending')) return BUSY
      session.isArchived = isArchived
      session.headerRevision += 1
      session.revision += 1
    }
    return { result: { session: headerView(session) } }
  }

const start: Decide = (root, session, { input, actor }) => {
  if (session.isArchived) return ARCHIVED
  if (activeTurn(session) !== null) return BUSY
  const { turnId, content, maxSteps } = input as unknown as RefTurn
  session.revision += 1
  const steps = maxSteps === undefined ? {} : { maxSteps }
  admit(root, session, { turnId, content, userMessageId: unknownId(root), submittedBy: actor, ...steps })
  return { result: { kind: 'started' }, turn: { turnId, as: 'turn' } }
}

const submit: Decide = (root, session, { input, actor }) => {
  if (session.isArchived) return ARCHIVED
  const { messageId, content, placement } = input as unknown as RefEntry
  session.revision += 1
  if (activeTurn(session) === null) {
    const turnId = unknownId(root)
    admit(root, session, { turnId, content, userMessageId: messageId, submittedBy: actor })
    return { result: { disposition: 'turn_started', turnId } }
  }
  session.queueRevision += 1
  const words = canonical(content)
  session.queue.push({
    entryId: messageId,
    messageId,
    content: words,
    placement,
    state: 'queued',
    submittedBy: actor,
    revision: 1,
  })
  const disposition = placement === 'current_turn' ? 'steering' : 'followup'
  return { result: { disposition, queueRevision: session.queueRevision } }
}

/** The turn a stop names if it still runs, `null` if it has ended, or the refusal. */
function stopTarget(session: RefSession, input: Readonly<Record<string, unknown>>): RefTurn | null | { code: string } {
  if (session.isArchived) return { code: 'session_archived' }
  const turn = session.turns.find(t => t.turnId === input.turnId)
  if (turn === undefined) return { code: 'not_found' }
  if (turn.runId !== input.runId) return { code: 'operation_conflict' }
  return hasEnded(turn) ? null : turn
}

const stop: Decide = (_root, session, { input }) => {
  const target = stopTarget(session, input)
  if (target !== null && 'code' in target) return target
  const turn = { turnId: String(input.turnId), as: 'self' as const }
  if (target === null) return { result: {}, turn }
  const isParked = park(session, 'turn_stopped', entry => entry.state === 'queued')
  const isClosed = closePending(session, 'turn_stopped')
  if (isParked) session.queueRevision += 1
  if (isParked || isClosed) session.revision += 1
  if (isClosed) runAgain(session, target)
  session.effects.push({ kind: 'end', turnId: target.turnId, end: { kind: 'cancelled', abortSource: 'user_stop' } })
  return { result: {}, turn }
}

/** Nothing waits for a person any more. */
function runAgain(session: RefSession, turn: RefTurn): void {
  turn.status = 'running'
  show(session, turn)
}

/** Takes back what no run has on lease. */
function takeBack(session: RefSession): readonly unknown[] {
  const retracted = leave(session, 'removed', entry => entry.state !== 'in_flight').map(entryView)
  if (retracted.length > 0) session.queueRevision += 1
  return retracted
}

const interrupt: Decide = (_root, session, { input }) => {
  const target = stopTarget(session, input)
  if (target !== null && 'code' in target) return target
  const turn = { turnId: String(input.turnId), as: 'turn' as const }
  if (target === null) return { result: { queueRevision: session.queueRevision, retracted: [] }, turn }
  const retracted = takeBack(session)
  const isClosed = closePending(session, 'turn_stopped')
  if (retracted.length > 0 || isClosed) session.revision += 1
  if (isClosed) runAgain(session, target)
  session.effects.push({ kind: 'end', turnId: target.turnId, end: { kind: 'cancelled', abortSource: 'user_stop' } })
  return { result: { queueRevision: session.queueRevision, retracted }, turn }
}

const retract: Decide = (_root, session) => {
  if (session.isArchived) return ARCHIVED
  const retracted = takeBack(session)
  if (retracted.length > 0) session.revision += 1
  return { result: { queueRevision: session.queueRevision, retracted } }
}

const resume: Decide = (_root, session) => {
  if (session.isArchived) return ARCHIVED
  const parked = session.queue.filter(entry => entry.state === 'parked')
  for (const entry of parked) {
    entry.state = 'queued'
    delete entry.parkReason
    entry.revision += 1
  }
  if (parked.length > 0) {
    session.queueRevision += 1
    session.revision += 1
  }
  if (activeTurn(session) === null) session.effects.push({ kind: 'hand_on' })
  return { result: { queueRevision: session.queueRevision } }
}

const answer: Decide = (_root, session, { input, actor }) => {
  const found = session.interactions.find(one => one.interactionId === input.interactionId)
  if (found === undefined) return { code: 'not_found' }
  if (found.status !== 'pending') {
    const isSame =
      found.outcome?.kind === 'answer' && JSON.stringify(found.outcome.answer) === JSON.stringify(input.answer)
    return isSame ? { result: interactionView(session, found) } : { code: 'already_resolved' }
  }
  if (!fits(found.request, input.answer as Record<string, unknown>)) return { code: 'invalid_request' }
  session.revision += 1
  session.openText = null
  found.status = 'answered'
  found.revision = 2
  found.outcome = { kind: 'answer', answer: input.answer, by: actor }
  session.transcript.push({ kind: 'interaction', id: found.interactionId, turnId: found.turnId, outcome: 'answer' })
  allowAlways(session, found.request, input.answer as { optionId?: string })
  const turn = activeTurn(session)
  if (turn !== null && !session.interactions.some(one => one.status === 'pending')) runAgain(session, turn)
  return { result: interactionView(session, found) }
}

function allowAlways(session: RefSession, request: { kind: string }, chosen: { optionId?: string }): void {
  if (request.kind !== 'permission') return
  const { options, toolKind } = request as unknown as {
    options: { optionId: string; kind: string }[]
    toolKind: string
  }
  const isAlways = options.find(option => option.optionId === chosen.optionId)?.kind === 'allow_always'
  const known = session.alwaysAllowed ?? []
  if (!isAlways || known.includes(toolKind)) return
  session.alwaysAllowed = [...known, toolKind]
  session.headerRevision += 1
}

function fits(request: { kind: string }, given: Readonly<Record<string, unknown>>): boolean {
  if (given.kind !== request.kind) return false
  if (request.kind === 'permission') {
    return (request as unknown as { options: { optionId: string }[] }).options.some(o => o.optionId === given.optionId)
  }
  const { questions } = request as unknown as { questions: { options: { label: string }[] }[] }
  const answers = given.answers as ({ labels: string[] } | null)[]
  const isKnown = (i: number, label: string): boolean => questions[i]?.options.some(o => o.label === label) === true
  return (
    answers.length === questions.length &&
    answers.every((one, i) => one === null || (one.labels.length <= 1 && one.labels.every(label => isKnown(i, label))))
  )
}

/** An interaction as clients see it, without times. */
export function interactionView(session: RefSession, one: RefSession['interactions'][number]): unknown {
  return structuredClone({ ...one, sessionId: session.sessionId })
}

/** Every command the reference knows, but creation, which needs no session. */
export const DECIDE: Readonly<Record<string, Decide>> = {
  'session.update': update,
  'session.archive': archive(true),
  'session.unarchive': archive(false),
  'turn.start': start,
  'turn.stop': stop,
  'turn.interrupt': interrupt,
  'turn.message.submit': submit,
  'queue.retract': retract,
  'queue.resume': resume,
  'interaction.answer': answer,
}
