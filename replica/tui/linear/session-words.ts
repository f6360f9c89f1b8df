import type { PlanProjection, TasksProjection } from '../../../schema/entities/projection.ts'
import type { QueueEntry, QueueProjection } from '../../../schema/entities/queue.ts'
import { LIMITS } from '../../../schema/limits.ts'
import type { LedgerView } from '../../react/ledger/ledger-feed.ts'
import { terminalLine } from '../../view/terminal-text.ts'
import { secondWords, spanWords } from '../../view/time-words.ts'
import { sparkline, sparklineWords } from '../../view/timeline/sparkline.ts'
import { timeWordsOf } from '../../view/timeline/timeline.ts'
import {
  entryWords,
  executionWords,
  interruptionWords,
  latestProposalWords,
  parkWords,
  surfaceWords,
  taskWords,
} from '../../view/words.ts'

/** Waiting messages in the order in which they are numbered. */
export function waitingEntries({ steering, followup }: QueueProjection): readonly QueueEntry[] {
  return [...steering, ...followup]
}

/** How many messages wait, in one sentence; '' for none. */
export function queueLine(queue: QueueProjection): string {
  const { steering, followup, parked } = queue
  const count = steering.length + followup.length
  if (count === 0) return ''
  const waits = count === 1 ? '1 message waits' : `${count} messages wait`
  return parked === null
    ? `${waits}. /waiting lists them.`
    : `${waits}, parked because ${parkWords(parked.reason)}; /resume lets them run.`
}

/** The waiting messages, with numbers. */
export function waitingLines(queue: QueueProjection): readonly string[] {
  const lines = waitingEntries(queue).map((entry, at) => {
    const kind = entry.placement === 'current_turn' ? 'steering message' : 'message for a later turn'
    const held = entry.heldBy === undefined ? entryWords(entry.state) : `held by ${surfaceWords(entry.heldBy.surface)}`
    const { text, displayText } = entry.content
    return `${at + 1}. ${kind}, ${held}, from ${surfaceWords(entry.submittedBy.surface)}: ${terminalLine(displayText ?? text)}`
  })
  return lines.length === 0 ? ['No message waits.'] : [...lines, '/back and a number takes one back.']
}

/** The plan: what is carried out, then what was proposed. */
export function planLines({ latestProposal, activeExecution, lastExecution }: PlanProjection): readonly string[] {
  const execution = activeExecution ?? lastExecution
  const lines: string[] = []
  if (execution !== null) {
    const why = execution.interruptionReason === undefined ? '' : `: ${interruptionWords(execution.interruptionReason)}`
    lines.push(`Plan ${execution.title}: ${executionWords(execution.status)}${why}.`)
    for (const [at, step] of execution.steps.entries()) {
      lines.push(
        `${at + 1}. ${step.status.replace('_', ' ')}: ${step.title}${step.note === undefined ? '' : `; ${step.note}`}`,
      )
    }
    if (execution.status === 'interrupted') lines.push('/continue goes on with it, /giveup ends it.')
  }
  if (latestProposal !== null && latestProposal.proposalId !== execution?.proposalId) {
    const { title, revision, overview = '', steps, risks = [] } = latestProposal
    lines.push(`Proposed plan ${title}, revision ${revision}: ${latestProposalWords(latestProposal)}.`)
    if (overview !== '') lines.push(overview)
    for (const [at, { title: step, description, files = [] }] of steps.entries()) {
      lines.push(
        `${at + 1}. ${step}`,
        ...[description, files.length === 0 ? '' : `Files: ${files.join(', ')}`].filter(Boolean),
      )
    }
    for (const risk of typeof risks === 'string' ? [risks] : risks) lines.push(`Risk: ${risk}`)
    if (latestProposal.status === 'pending_approval') {
      lines.push('/approve approves it, /revise and text asks for changes, /drop drops it.')
    }
  }
  return lines.length === 0 ? ['Nothing is planned.'] : lines
}

/** The tasks in order of their keys. */
export function taskLines({ items }: TasksProjection): readonly string[] {
  if (items.length === 0) return ['There are no tasks.']
  return items.map(({ key, subject, status, owner, blockedReason, failureReason, completionEvidence }) => {
    const note = blockedReason ?? failureReason ?? completionEvidence
    const who = owner === undefined ? '' : `, ${owner}`
    return terminalLine(`${key}, ${taskWords(status)}${who}: ${subject}${note === undefined ? '' : `; ${note}`}`)
  })
}

/** The newest records of a ledger, and what turns and answers took. */
export function ledgerLines({ rows, values, failure }: LedgerView): readonly string[] {
  if (failure !== null) return [`The ledger cannot be read: ${failure.message}`]
  const told = rows.slice(-LIMITS.linearLedgerRows).map(row => {
    const times = timeWordsOf(row)
    return `${secondWords(row.at)}, revision ${row.revision}, ${row.who}: ${row.words}${times === '' ? '' : `; ${times}`}`
  })
  const plots = (['turn', 'answer'] as const).flatMap(step => {
    const plot = sparkline(values[step], LIMITS.timelineDurations)
    const name = step === 'turn' ? 'Turns' : 'Answers'
    return plot === null ? [] : [`${name}, ${values[step].length}: ${sparklineWords(plot, spanWords)}.`]
  })
  return [...told, ...plots]
}
