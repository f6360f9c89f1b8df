import type { InteractionAnswer, InteractionSnapshot } from '../../../schema/entities/interaction.ts'
import { formFields, optionLines, questionLines } from '../../view/interaction-words.ts'
import { fieldValue } from '../../view/pending/typed-answers.ts'
import type { CommandContext } from '../context.ts'
import { CliFailure } from '../failure.ts'
import { askLine } from './ask.ts'
import { buildAnswer } from './build-answer.ts'

/**
 * Asks the person at the terminal, on stderr, until the answer fits. Undefined: stdin ended, nobody will answer here.
 * Rejects when the signal is aborted: somebody else was faster, or the turn ended.
 */
export async function promptAnswer(
  context: CommandContext,
  interaction: InteractionSnapshot,
  signal: AbortSignal,
): Promise<InteractionAnswer | undefined> {
  const { request } = interaction
  if (request.kind === 'form') return promptForm(context, request, signal)
  if (request.kind === 'permission') {
    for (const line of optionLines(request)) context.notices.error(line)
    return promptUntil(context, signal, text => buildAnswer(request, { choose: [text], isDenied: false }))
  }
  const answers: Extract<InteractionAnswer, { kind: 'question' }>['answers'] = []
  for (const [i, question] of request.questions.entries()) {
    for (const line of questionLines(question, request.questions.length > 1 ? i + 1 : undefined))
      context.notices.error(line)
    const one = await promptUntil(context, signal, text => {
      const isWords = question.options.length === 0 || (question.allowText === true && !/^\d+(,\d+)*$/.test(text))
      const typed = isWords ? { choose: [], text, isDenied: false } : { choose: [text], isDenied: false }
      return buildAnswer({ kind: 'question', questions: [question] }, typed)
    })
    if (one?.kind !== 'question') return undefined
    answers.push(one.answers[0] ?? null)
  }
  return { kind: 'question', answers }
}

async function promptUntil(
  context: CommandContext,
  signal: AbortSignal,
  read: (text: string) => InteractionAnswer,
): Promise<InteractionAnswer | undefined> {
  for (;;) {
    const text = await askLine(context, '>', signal)
    if (text === undefined) return undefined
    try {
      return read(text.trim())
    } catch (error) {
      if (!(error instanceof CliFailure)) throw error
      context.notices.error(error.message)
    }
  }
}

async function promptForm(
  context: CommandContext,
  request: Extract<InteractionSnapshot['request'], { kind: 'form' }>,
  signal: AbortSignal,
): Promise<InteractionAnswer | undefined> {
  const values: Record<string, unknown> = {}
  for (const text of [request.title, request.message]) if (text !== undefined) context.notices.error(text)
  for (const field of formFields(request)) {
    const text = await askLine(
      context,
      `${field.name} (${field.description})${field.isRequired ? '' : ', may stay empty'}:`,
      signal,
    )
    if (text === undefined) return undefined
    if (text !== '' || field.isRequired) values[field.name] = fieldValue(field.schema.type, text)
  }
  return { kind: 'form', values }
}
