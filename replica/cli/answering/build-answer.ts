import type { InteractionAnswer, InteractionRequest, PermissionRequest } from '../../../schema/entities/interaction.ts'
import { formFields } from '../../view/interaction-words.ts'
import { fieldValue, permissionOption } from '../../view/pending/typed-answers.ts'
import { usage } from '../failure.ts'

/** What was typed: `choose` once per question (`N`, or `N,M`; `0` leaves it out), words, or a refusal. */
export interface TypedAnswer {
  readonly choose: readonly string[]
  readonly text?: string
  readonly isDenied: boolean
}

/** The answer in the shape the request asks for. Throws a usage failure that says what fits. Source: I2, interfaces 5. */
export function buildAnswer(request: InteractionRequest, typed: TypedAnswer): InteractionAnswer {
  const given = [typed.choose.length > 0, typed.text !== undefined, typed.isDenied].filter(Boolean).length
  if (given === 0) throw usage('Say how to answer: --choose N, --text TEXT or --deny.', EXAMPLE)
  if (typed.isDenied && given > 1) throw usage('--deny stands alone.', EXAMPLE)
  switch (request.kind) {
    case 'question':
      return questionAnswer(request, typed)
    case 'permission':
      return permissionAnswer(request, typed)
    case 'form':
      return formAnswer(request, typed)
    default:
      return request satisfies never
  }
}

const EXAMPLE = 'headwater answer INTERACTION --choose 1'

type Questions = Extract<InteractionRequest, { kind: 'question' }>
type Answers = Extract<InteractionAnswer, { kind: 'question' }>

function questionAnswer({ questions }: Questions, typed: TypedAnswer): Answers {
  if (typed.isDenied) return { kind: 'question', answers: questions.map(() => null) }
  if (typed.choose.length > questions.length) {
    throw usage(
      `There ${questions.length === 1 ? 'is 1 question' : `are ${questions.length} questions`}, not more.`,
      EXAMPLE,
    )
  }
  const answers: Answers['answers'] = questions.map((question, i) => {
    const chosen = typed.choose[i]
    return chosen === undefined ? null : labelsOf(question, chosen, i + 1)
  })
  const isShort = typed.choose.length < questions.length
  if (typed.text === undefined) {
    if (isShort)
      throw usage(`Give --choose once for each of the ${questions.length} questions; 0 leaves one out.`, EXAMPLE)
    return { kind: 'question', answers }
  }
  const at = questions.findIndex(
    (question, i) => answers[i] === null && (question.allowText || question.options.length === 0),
  )
  const place = at >= 0 ? at : questions.findIndex(question => question.allowText)
  if (place < 0) throw usage('This question takes no text; choose an option with --choose N.', EXAMPLE)
  answers[place] = { labels: answers[place]?.labels ?? [], text: typed.text }
  return { kind: 'question', answers }
}

function labelsOf(
  question: Questions['questions'][number],
  chosen: string,
  number: number,
): Answers['answers'][number] {
  if (chosen === '0') return null
  const numbers = chosen.split(',')
  if (numbers.length > 1 && !question.multiple) throw usage(`Question ${number} takes one option only.`, EXAMPLE)
  const labels = numbers.map(text => optionAt(question.options, text, `Question ${number}`).label)
  return { labels: [...new Set(labels)] }
}

function optionAt<Option>(options: readonly Option[], text: string, what: string): Option {
  const option = /^[1-9]\d{0,3}$/.test(text) ? options[Number(text) - 1] : undefined
  if (option === undefined) throw usage(`${what} has options 1 to ${options.length}, not "${text}".`, EXAMPLE)
  return option
}

function permissionAnswer(request: PermissionRequest, typed: TypedAnswer): InteractionAnswer {
  if (typed.text !== undefined) throw usage('A permission takes no text; use --choose N or --deny.', EXAMPLE)
  if (typed.isDenied) {
    const optionId = permissionOption(request, 'deny')
    if (optionId === undefined) throw usage('This permission has no option that refuses; interrupt the turn instead.')
    return { kind: 'permission', optionId }
  }
  if (typed.choose.length !== 1) throw usage('A permission takes one --choose.', EXAMPLE)
  return { kind: 'permission', optionId: optionAt(request.options, typed.choose[0]!, 'The permission').optionId }
}

function formAnswer(request: Extract<InteractionRequest, { kind: 'form' }>, typed: TypedAnswer): InteractionAnswer {
  if (typed.isDenied) throw usage('A form cannot be refused; interrupt the turn instead.', 'headwater interrupt ID')
  if (typed.text === undefined) throw usage('A form takes --text with a JSON object, as --text \'{"name":"x"}\'.')
  const values = jsonObject(typed.text)
  if (values !== undefined) return { kind: 'form', values }
  const fields = formFields(request)
  const [only] = fields
  if (only === undefined || fields.length > 1) {
    const names = fields.map(({ name }) => name).join(', ')
    throw usage(`This form has several fields (${names}); give a JSON object.`)
  }
  return { kind: 'form', values: { [only.name]: fieldValue(only.schema.type, typed.text) } }
}

function jsonObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}
