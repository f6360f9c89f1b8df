import { interruptPlan } from './plans.ts'
import { canonical, handOffEntries, join, leave, park, returnLeased } from './queue.ts'
import {
  activeTurn,
  hasEnded,
  type RefActor,
  type RefContent,
  type RefEnd,
  type RefLine,
  type RefRoot,
  type RefSession,
  type RefTurn,
  show,
  unknownId,
} from './state.ts'

/** What a turn is made from. */
export interface NewTurn {
  readonly turnId: string
  readonly content: RefContent
  readonly userMessageId: string
  readonly submittedBy: RefActor | null
  readonly kind?: string
  readonly source?: string
  readonly maxSteps?: number
}

/** Admits a turn, which counts as part of a transition that the caller counts; its run follows by itself. */
export function admit(root: RefRoot, session: RefSession, turn: NewTurn): void {
  const { kind = 'external_message', ...rest } = turn
  const content = canonical(turn.content)
  const admitted: RefTurn = { ...rest, kind, content, runId: unknownId(root), status: 'admitted', hasRun: false }
  session.turns.push(admitted)
  show(session, admitted)
  if (session.title === '' && !session.titleIsManual) {
    session.title = titleFrom(content.displayText ?? content.text)
    session.headerRevision += 1
  }
  session.effects.push({ kind: 'start', turnId: turn.turnId })
}

/** The model's prompts are short single lines, or such lines joined. */
const titleFrom = (text: string): string => (text.split('\n')[0] ?? '').trim()

/** The run starts and the user's message stands in the transcript: one transition. */
export function startRun(session: RefSession, turnId: string): void {
  const turn = session.turns.find(t => t.turnId === turnId)
  if (turn === undefined || turn.status !== 'admitted') return
  session.revision += 1
  begin(session, turn)
  turn.status = 'running'
  show(session, turn)
}

function begin(session: RefSession, turn: RefTurn): void {
  turn.hasRun = true
  const { userMessageId, content, turnId } = turn
  session.transcript.push({ kind: 'user', id: userMessageId, turnId, content })
}

/** Closes what waits for a person; true if something did. */
export function closePending(session: RefSession, reason: string): boolean {
  const pending = session.interactions.filter(one => one.status === 'pending')
  if (pending.length > 0) session.openText = null
  for (const one of pending) {
    one.status = 'closed'
    one.revision = 2
    one.outcome = { kind: 'closure', reason }
    session.transcript.push({ kind: 'interaction', id: one.interactionId, turnId: one.turnId, outcome: reason })
  }
  return pending.length > 0
}

/** Tool calls without an outcome become `unknown`. */
export function closeTools(session: RefSession, turnId: string): boolean {
  const open = session.transcript.filter(l => l.kind === 'tool' && l.turnId === turnId && l.status === 'in_progress')
  for (const line of open) line.status = 'unknown'
  return open.length > 0
}

/** The terminal transition; what is to be handed on follows by itself. */
export function endTurn(root: RefRoot, session: RefSession, turnId: string, end: RefEnd): void {
  const turn = session.turns.find(t => t.turnId === turnId)
  if (turn === undefined || hasEnded(turn)) return
  session.revision += 1
  if (!turn.hasRun) begin(session, turn)
  session.openText = null
  closePending(session, 'turn_terminal')
  closeTools(session, turnId)
  const isReturned = returnLeased(session)
  const isShutdown = end.kind === 'cancelled' && end.abortSource === 'leader_shutdown'
  const isParked = end.kind === 'cancelled' && park(session, isShutdown ? 'leader_stopped' : 'turn_stopped', () => true)
  if (isReturned || isParked) session.queueRevision += 1
  if (end.kind !== 'completed') {
    interruptPlan(session, isShutdown ? 'leader_stopped' : end.kind === 'failed' ? 'turn_failed' : 'turn_cancelled')
  }
  turn.endLine = session.transcript.length
  turn.status = end.kind
  if (end.kind === 'failed') turn.failureClass = end.failureClass
  if (end.kind === 'cancelled') turn.abortSource = end.abortSource
  turn.terminalEventId = unknownId(root, 'event')
  show(session, turn)
  if (end.kind !== 'cancelled') session.effects.push({ kind: 'hand_on' })
}

/** What waits becomes the successor turn. */
export function handOn(root: RefRoot, session: RefSession): void {
  if (activeTurn(session) !== null) return
  const entries = handOffEntries(session)
  const [first] = entries
  if (first === undefined) return
  const isAlone = entries.length === 1
  leave(session, 'delivered', entry => entries.includes(entry))
  session.revision += 1
  session.queueRevision += 1
  admit(root, session, {
    turnId: unknownId(root),
    content: join(entries.map(entry => entry.content)),
    userMessageId: isAlone ? first.messageId : unknownId(root),
    submittedBy: isAlone ? first.submittedBy : null,
  })
}

function start(root: RefRoot, session: RefSession, turnId: string): void {
  startRun(session, turnId)
  const turn = session.turns.find(one => one.turnId === turnId)
  if (root.holdText === null || turn?.content.text === root.holdText) return
  session.effects.push({ kind: 'end', turnId, end: { kind: 'completed' } })
}

/** Runs the next step that follows by itself; false if there is none. `isLost`: the storage failed, so an end may have been lost. */
export function runEffect(root: RefRoot, session: RefSession, isLost = false): boolean {
  const effect = session.effects.shift()
  if (effect === undefined) return false
  if (effect.kind === 'start') start(root, session, effect.turnId)
  else if (effect.kind === 'hand_on') handOn(root, session)
  else endTurn(root, session, effect.turnId, isLost ? { kind: 'failed', failureClass: 'storage' } : effect.end)
  return true
}

/** What a leader that was killed leaves, as the next one settles it. */
export function recover(root: RefRoot, session: RefSession): void {
  session.openText = null
  const isClosed = closePending(session, 'host_restarted')
  const turn = activeTurn(session)
  const isResumed = turn !== null && !turn.hasRun && turn.kind !== 'plan'
  session.effects = isResumed ? [{ kind: 'start', turnId: turn.turnId }] : []
  const isFailed = turn !== null && !isResumed
  if (isFailed) failByRestart(root, session, turn)
  const isMoved = settleQueue(session)
  const isInterrupted = interruptPlan(session, 'leader_restarted')
  if (isMoved) session.queueRevision += 1
  if (isClosed || isFailed || isMoved || isInterrupted) session.revision += 1
}

function failByRestart(root: RefRoot, session: RefSession, turn: RefTurn): void {
  if (!turn.hasRun) begin(session, turn)
  closeTools(session, turn.turnId)
  turn.status = 'failed'
  turn.failureClass = 'app_restarted'
  turn.terminalEventId = unknownId(root, 'event')
  turn.endLine = session.transcript.length
  show(session, turn)
}

/** Nobody edits across a restart, and nothing runs by itself. */
function settleQueue(session: RefSession): boolean {
  const held = session.queue.filter(entry => entry.heldBy !== undefined)
  for (const entry of held) delete entry.heldBy
  const isParked = park(session, 'leader_restarted', () => true)
  return held.length > 0 || isParked
}

/** The transcript with the pieces of one message as one line. */
export function mergedLines(lines: readonly RefLine[]): readonly RefLine[] {
  const merged: RefLine[] = []
  for (const line of lines) {
    const last = merged.at(-1)
    const isPiece = line.kind === 'assistant' && last?.kind === 'assistant' && last.id === line.id
    if (isPiece && last !== undefined) merged[merged.length - 1] = { ...last, text: `${last.text}${line.text}` }
    else merged.push(line)
  }
  return merged
}
