import type { ExecutionStep, PlanExecution, PlanProposal, PlanStep } from '../../../../schema/entities/plan.ts'
import type { PlanProjection } from '../../../../schema/entities/projection.ts'
import { executionWords, interruptionWords, latestProposalWords } from '../../../view/words.ts'
import { renderFields } from '../../output/fields.ts'
import type { Output } from '../../output/output.ts'

/** A session's plan as people read it: what is carried out or was, then what waits for approval or did. Empty: nothing was planned. */
export function planText(out: Output, plan: PlanProjection): string {
  const execution = plan.activeExecution ?? plan.lastExecution
  const { latestProposal } = plan
  const isCarriedOut = latestProposal !== null && latestProposal.proposalId === execution?.proposalId
  const parts = [
    ...(execution === null ? [] : [executionText(out, execution, isCarriedOut ? latestProposal : null)]),
    ...(latestProposal === null || isCarriedOut ? [] : [proposalText(out, latestProposal)]),
  ]
  return parts.join('\n\n')
}

function executionText(out: Output, execution: PlanExecution, proposal: PlanProposal | null): string {
  const { title, executionId, status, interruptionReason, contentDigest, steps } = execution
  const fields: [string, string][] = [
    ['title', title],
    ['execution', executionId],
    [
      'status',
      interruptionReason === undefined
        ? executionWords(status)
        : `${executionWords(status)}: ${interruptionWords(interruptionReason)}`,
    ],
    ...(proposal === null ? [] : [['revision', String(proposal.revision)] as [string, string]]),
    ['digest', contentDigest],
  ]
  return [renderFields(out, fields).trimEnd(), '', ...steps.flatMap((step, i) => stepLines(step, i, step))].join('\n')
}

function proposalText(out: Output, proposal: PlanProposal): string {
  const { title, proposalId, revision, contentDigest, feedback, overview, risks, steps } = proposal
  const fields: [string, string][] = [
    ['title', title],
    ['proposal', proposalId],
    ['status', latestProposalWords(proposal)],
    ['revision', String(revision)],
    ['digest', contentDigest],
    ...(feedback === undefined ? [] : [['feedback', feedback] as [string, string]]),
  ]
  const listed = risks === undefined ? [] : typeof risks === 'string' ? [risks] : risks
  return [
    renderFields(out, fields).trimEnd(),
    '',
    ...(overview === undefined || overview === '' ? [] : [overview, '']),
    ...steps.flatMap((step, i) => stepLines(step, i)),
    ...(listed.length === 0 ? [] : ['', 'Risks:', ...listed.map(risk => `- ${risk}`)]),
  ].join('\n')
}

const MARKS = { pending: '[ ]', in_progress: '[>]', completed: '[x]', skipped: '[-]' } as const

function stepLines(step: PlanStep, index: number, progress?: Pick<ExecutionStep, 'status' | 'note'>): string[] {
  const { title, description, files = [], complexity } = step
  const mark = progress === undefined ? '' : ` ${MARKS[progress.status]}`
  const more = [
    description,
    ...(files.length === 0 ? [] : [`files: ${files.join(', ')}`]),
    ...(complexity === undefined ? [] : [`complexity: ${complexity}`]),
    ...(progress?.note === undefined ? [] : [`note: ${progress.note}`]),
  ].filter(line => line !== '')
  return [`${index + 1}.${mark} ${title}`, ...more.map(line => `   ${line.replaceAll('\n', '\n   ')}`)]
}
