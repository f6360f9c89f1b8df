import type {
  InteractionAnswer,
  InteractionRequest,
  InteractionSnapshot,
} from '../../../schema/entities/interaction.ts'
import { type FormField, formFields, optionLines, questionLines } from '../../view/interaction-words.ts'
import { fieldValue, permissionOption } from '../../view/pending/typed-answers.ts'
import { terminalLine } from '../../view/terminal-text.ts'

type Question = Extract<InteractionRequest, { kind: 'question' }>['questions'][number]
type GivenAnswer = Extract<InteractionAnswer, { kind: 'question' }>['answers'][number]

/** What became of a typed line: the answer is whole, there is more to ask, or it does not fit. */
export type Filled =
  | { readonly kind: 'whole'; readonly answer: InteractionAnswer }
  | { readonly kind: 'more' }
  | { readonly kind: 'misfit'; readonly why: string }

/** An answer as it is typed, one line a question or a field. Source: I1, I2. */
export class AnswerSheet {
  readonly interaction: InteractionSnapshot
  readonly #answers: GivenAnswer[] = []
  readonly #values: Record<string, unknown> = {}
  #at = 0

  constructor(interaction: InteractionSnapshot) {
    this.interaction = interaction
  }

  /** What is asked now, options with their numbers, and how to answer. */
  get lines(): readonly string[] {
    const { request } = this.interaction
    switch (request.kind) {
      case 'question': {
        const question = request.questions[this.#at] as Question
        const place =
          request.questions.length > 1 ? `Question ${this.#at + 1} of ${request.questions.length}: ` : 'Question: '
        const [head = '', ...options] = questionLines(question, undefined)
        return [`${place}${head}`, ...options.map(numbered), howTo(question)]
      }
      case 'permission':
        return ['Permission wanted:', ...optionLines(request).map(numbered), 'Type the number, or /deny.']
      case 'form': {
        const field = formFields(request)[this.#at]
        const head = this.#at === 0 ? [request.title, request.message].filter(text => text !== undefined) : []
        return [
          ...head.map(text => `Form: ${terminalLine(text)}`),
          ...(field === undefined ? [NO_FIELDS] : [fieldLine(field)]),
        ]
      }
      default:
        return request satisfies never
    }
  }

  /** Takes a typed line. */
  fill(typed: string): Filled {
    const { request } = this.interaction
    const text = typed.trim()
    switch (request.kind) {
      case 'question':
        return this.#question(request.questions, text)
      case 'permission': {
        const option = numberOf(text) === null ? undefined : request.options[(numberOf(text) as number) - 1]
        if (option === undefined)
          return { kind: 'misfit', why: `Type a number from 1 to ${request.options.length}, or /deny.` }
        return { kind: 'whole', answer: { kind: 'permission', optionId: option.optionId } }
      }
      case 'form':
        return this.#field(formFields(request), text)
      default:
        return request satisfies never
    }
  }

  /** The answer that declines; null where only stopping the turn does. */
  get denial(): InteractionAnswer | null {
    const { request } = this.interaction
    if (request.kind === 'question') return { kind: 'question', answers: request.questions.map(() => null) }
    if (request.kind === 'form') return null
    const optionId = permissionOption(request, 'deny')
    return optionId === undefined ? null : { kind: 'permission', optionId }
  }

  #question(questions: readonly Question[], text: string): Filled {
    const answer = answerTo(questions[this.#at] as Question, text)
    if (typeof answer === 'string') return { kind: 'misfit', why: answer }
    this.#answers.push(answer)
    this.#at += 1
    if (this.#at < questions.length) return { kind: 'more' }
    return { kind: 'whole', answer: { kind: 'question', answers: this.#answers } }
  }

  #field(fields: readonly FormField[], text: string): Filled {
    const field = fields[this.#at]
    if (field !== undefined) {
      if (text === '' && field.isRequired) return { kind: 'misfit', why: `${terminalLine(field.name)} must be given.` }
      if (text !== '') this.#values[field.name] = fieldValue(field.schema.type, text)
      this.#at += 1
      if (this.#at < fields.length) return { kind: 'more' }
    }
    return { kind: 'whole', answer: { kind: 'form', values: this.#values } }
  }
}

const NO_FIELDS = 'There is nothing to fill in; an empty line answers.'

function answerTo(question: Question, text: string): GivenAnswer | string {
  const { options, multiple, allowText } = question
  if (text === '0') return null
  if (/^\d+(\s*,\s*\d+)*$/.test(text) && options.length > 0) {
    const numbers = text.split(',').map(each => Number(each))
    if (numbers.length > 1 && multiple !== true) return 'Only one option may be chosen.'
    const labels = numbers.map(number => options[number - 1]?.label)
    if (labels.some(label => label === undefined)) return `There are options 1 to ${options.length}.`
    return { labels: [...new Set(labels as string[])] }
  }
  if (text !== '' && (allowText === true || options.length === 0)) return { labels: [], text }
  return howTo(question)
}

function howTo({ options, multiple, allowText }: Question): string {
  if (options.length === 0) return 'Type the answer; 0 leaves it out.'
  const words = allowText === true ? ', or the answer in words' : ''
  return `Type the number${multiple === true ? ', or several with commas' : ''}${words}; 0 leaves it out.`
}

function fieldLine({ name, description, isRequired }: FormField): string {
  return `${terminalLine(name)}: ${terminalLine(description)}${isRequired ? '' : '; may stay empty'}. Type the value.`
}

/** `[1] red` is read out better as `1. red`. */
function numbered(line: string): string {
  return line.replace(/^\[(\d+)\]/, '$1.')
}

function numberOf(text: string): number | null {
  return /^[1-9]\d{0,3}$/.test(text) ? Number(text) : null
}
