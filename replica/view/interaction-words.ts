import type { InteractionAnswer, InteractionOutcome, InteractionRequest } from '../../schema/entities/interaction.ts'
import { terminalLine } from './terminal-text.ts'
import { closureWords, surfaceWords } from './words.ts'

/** What something is, in front of a title that does not say so itself: an agent may give no more than a path. */
export function titleWithKind(kind: string, title: string): string {
  if (title === '') return kind
  const isSaid = kind === '' || kind === 'other' || title.toLowerCase().includes(kind.toLowerCase())
  return isSaid ? title : `${kind}: ${title}`
}

/** What is asked, in one line. */
export function summaryOf(request: InteractionRequest): string {
  switch (request.kind) {
    case 'question': {
      const [first] = request.questions
      const more = request.questions.length - 1
      return terminalLine(`${first?.question ?? ''}${more > 0 ? ` (and ${more} more)` : ''}`)
    }
    case 'permission':
      return terminalLine(titleWithKind(request.toolKind, request.title))
    case 'form':
      return terminalLine(request.title ?? request.message ?? 'a form')
    default:
      return request satisfies never
  }
}

/** The lines under the head: questions or title, and the options, numbered from 1. */
export function optionLines(request: InteractionRequest): string[] {
  switch (request.kind) {
    case 'question':
      return request.questions.flatMap((each, i) =>
        questionLines(each, request.questions.length > 1 ? i + 1 : undefined),
      )
    case 'permission':
      return [
        terminalLine(titleWithKind(request.toolKind, request.title)),
        ...request.options.map((option, i) => numbered(i, option.label)),
      ]
    case 'form':
      return [
        ...[request.title, request.message].filter(text => text !== undefined).map(terminalLine),
        ...formFields(request).map(({ name, description }) => `- ${terminalLine(name)}: ${terminalLine(description)}`),
      ]
    default:
      return request satisfies never
  }
}

type Question = Extract<InteractionRequest, { kind: 'question' }>['questions'][number]

/** One question and its options; `number` where there are several questions. */
export function questionLines(question: Question, number: number | undefined): string[] {
  const notes = [question.multiple ? 'several may be chosen' : '', question.allowText ? 'or in words' : ''].filter(
    Boolean,
  )
  const head = `${number === undefined ? '' : `${number}. `}${terminalLine(question.question)}`
  return [
    notes.length === 0 ? head : `${head} (${notes.join(', ')})`,
    ...question.options.map((option, i) =>
      numbered(i, option.description === undefined ? option.label : `${option.label} – ${option.description}`),
    ),
  ]
}

function numbered(index: number, label: string): string {
  return `[${index + 1}] ${terminalLine(label)}`
}

/** A field of a form. `schema` is its own JSON schema. */
export interface FormField {
  readonly name: string
  readonly description: string
  readonly isRequired: boolean
  readonly schema: Readonly<Record<string, unknown>>
}

/** The fields of a form, in the order of its schema. */
export function formFields(request: Extract<InteractionRequest, { kind: 'form' }>): FormField[] {
  const properties = (request.schema.properties ?? {}) as Readonly<Record<string, unknown>>
  const required = Array.isArray(request.schema.required) ? request.schema.required : []
  return Object.entries(properties).map(([name, value]) => {
    const schema = (typeof value === 'object' && value !== null ? value : {}) as Readonly<Record<string, unknown>>
    const words = [schema.title, schema.description].filter(text => typeof text === 'string').join(' – ')
    const choices = Array.isArray(schema.enum) ? ` (${schema.enum.map(String).join(' | ')})` : ''
    const description = `${words === '' ? String(schema.type ?? 'text') : words}${choices}`
    return { name, description, isRequired: required.includes(name), schema }
  })
}

/** How an interaction ended, in one line. */
export function outcomeLine(outcome: InteractionOutcome, request: InteractionRequest): string {
  if (outcome.kind === 'closure') return `closed: ${closureWords(outcome.reason)}`
  const words = answerWords(outcome.answer, request)
  return terminalLine(`answered by ${answererWords(outcome)}${words === '' ? '' : `: ${words}`}`)
}

/** Who answered, in words. */
export function answererWords({ by }: Extract<InteractionOutcome, { kind: 'answer' }>): string {
  return by === 'leader' ? 'the leader' : surfaceWords(by.surface)
}

/** What was answered, in the words of those who asked; '' for a form, whose values are nobody's business here. */
export function answerWords(answer: InteractionAnswer, request: InteractionRequest): string {
  switch (answer.kind) {
    case 'question':
      return answer.answers
        .map(each => [...(each?.labels ?? []), each?.text ?? ''].filter(Boolean).join(', ') || '–')
        .join(' / ')
    case 'permission': {
      const chosen =
        request.kind === 'permission' ? request.options.find(({ optionId }) => optionId === answer.optionId) : undefined
      return chosen?.label ?? answer.optionId
    }
    case 'form':
      return ''
    default:
      return answer satisfies never
  }
}
