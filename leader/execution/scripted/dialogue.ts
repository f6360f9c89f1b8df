import type { InteractionOutcome, PermissionRequest, QuestionRequest } from '../../../schema/entities/interaction.ts'
import type { RunContext } from '../backend.ts'

const QUESTIONS: QuestionRequest['questions'] = [
  { question: 'Which colour?', options: [{ label: 'red' }, { label: 'blue' }] },
  { question: 'Which size?', options: [{ label: 'small' }, { label: 'large' }] },
  { question: 'Which place?', options: [{ label: 'here' }, { label: 'there' }] },
]

const OPTIONS: PermissionRequest['options'] = [
  { optionId: 'allow-once', label: 'Allow once', kind: 'allow_once' },
  { optionId: 'allow-always', label: 'Always allow', kind: 'allow_always' },
  { optionId: 'reject-once', label: 'Reject', kind: 'reject_once' },
  { optionId: 'reject-always', label: 'Always reject', kind: 'reject_always' },
]

const TOOL_CALL = 'scripted-edit'

/** Asks three questions of two options each and replies with the answers. Source: F. */
export async function askQuestions(run: RunContext): Promise<void> {
  await run.text(readAnswers(await run.ask({ questions: QUESTIONS })))
}

/** Asks for permission for one tool call, ends the call accordingly and reports the decision. Source: F, I7. */
export async function askPermission(run: RunContext): Promise<void> {
  const call = { toolCallId: TOOL_CALL, title: 'Edit scripted.txt' }
  await run.toolStart({ ...call, name: 'edit', status: 'pending', input: '{"path":"scripted.txt"}' })
  const decision = readDecision(await run.requestPermission({ ...call, toolKind: 'edit', options: OPTIONS }))
  const isAllowed = decision.startsWith('allow')
  await run.toolEnd({
    toolCallId: TOOL_CALL,
    status: isAllowed ? 'completed' : 'failed',
    output: isAllowed ? 'edited' : 'not edited',
  })
  await run.text(`permission: ${decision}`)
}

function readAnswers(outcome: InteractionOutcome): string {
  if (outcome.kind === 'closure') return `not answered (${outcome.reason})`
  if (outcome.answer.kind !== 'question') return 'not answered'
  return outcome.answer.answers
    .map(answer => [...(answer?.labels ?? []), ...(answer?.text === undefined ? [] : [answer.text])].join(', '))
    .join(' / ')
}

function readDecision(outcome: InteractionOutcome): string {
  if (outcome.kind === 'closure') return `not decided (${outcome.reason})`
  const { answer } = outcome
  if (answer.kind !== 'permission') return 'not decided'
  return OPTIONS.find(option => option.optionId === answer.optionId)?.kind ?? answer.optionId
}
