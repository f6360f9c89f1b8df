import type { SessionProjection } from '../../../schema/entities/projection.ts'
import { isTerminal } from '../../../schema/entities/turn.ts'
import { terminalLine } from '../../view/terminal-text.ts'
import { clockWords } from '../../view/time-words.ts'
import { abortWords, failureWords, turnWords } from '../../view/words.ts'
import type { Line, Span } from '../text/line.ts'
import { spread } from '../text/measure.ts'

const DOT: Span = { text: ' · ', tone: 'dim' }

/** The row that says what the session does. `startedAt` is when its turn began, as far as it is known. Source: experience 7.1. */
export function statusLine(
  projection: SessionProjection,
  { columns, now, startedAt }: { readonly columns: number; readonly now: number; readonly startedAt: number | null },
): Line {
  const parts: Line[] = [turnPart(projection, now, startedAt), ...countParts(projection)]
  const left = parts.flatMap((part, index) => (index === 0 ? part : [DOT, ...part]))
  return spread([{ text: ' ' }, ...left], [{ text: `${terminalLine(projection.session.cwd)} `, tone: 'dim' }], columns)
}

function turnPart({ rootTurn, session }: SessionProjection, now: number, startedAt: number | null): Line {
  if (session.status === 'damaged') return [{ text: 'damaged, read-only: headwater doctor', tone: 'bad' }]
  if (rootTurn === null) return [{ text: 'nothing ran yet', tone: 'dim' }]
  const { status } = rootTurn
  if (!isTerminal(status)) {
    const clock = startedAt === null ? '' : ` ${clockWords(now - startedAt)}`
    const tone = status === 'waiting_for_user' ? 'warn' : 'good'
    return [{ text: `${status === 'running' ? 'running' : turnWords(status)}${clock}`, tone }]
  }
  if (rootTurn.status === 'failed')
    return [{ text: `failed: ${terminalLine(failureWords(rootTurn.failureClass))}`, tone: 'bad' }]
  if (rootTurn.status === 'cancelled')
    return [{ text: `stopped: ${terminalLine(abortWords(rootTurn.abortSource))}`, tone: 'warn' }]
  return [{ text: 'completed', tone: 'dim' }]
}

function countParts({ plan, tasks, queue, session }: SessionProjection): Line[] {
  const steps = plan.activeExecution?.steps
  const done = steps?.filter(({ status }) => status === 'completed' || status === 'skipped').length ?? 0
  const isPlanWaiting = plan.latestProposal?.status === 'pending_approval'
  const open = tasks.items.filter(
    ({ status }) => status === 'pending' || status === 'in_progress' || status === 'blocked',
  )
  const waiting = queue.steering.length + queue.followup.length
  return [
    ...(steps === undefined ? [] : [[{ text: `plan ${done}/${steps.length}` }]]),
    ...(isPlanWaiting ? [[{ text: 'plan waits for you', tone: 'warn' as const }]] : []),
    ...(tasks.items.length === 0
      ? []
      : [[{ text: `tasks ${tasks.items.length - open.length}/${tasks.items.length}` }]]),
    ...(waiting === 0 ? [] : [[{ text: `queue ${waiting}` }]]),
    ...(session.collaborationMode === 'plan' ? [[{ text: 'plan mode', tone: 'accent' as const }]] : []),
    ...(session.permissionMode === 'ask' ? [] : [[{ text: `may: ${session.permissionMode}`, tone: 'dim' as const }]]),
  ]
}
