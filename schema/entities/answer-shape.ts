import { isCanonicallyEqual } from '../canonical.ts'
import { LIMITS } from '../limits.ts'
import { utf8Bytes } from '../text.ts'
import type { FormRequest, InteractionAnswer, InteractionRequest, QuestionRequest } from './interaction.ts'

/** Where and why an answer does not fit its request. */
export interface AnswerFault {
  readonly path: string
  readonly message: string
}

const fault = (path: string, why: string): AnswerFault => ({ path, message: `${path}: ${why}` })

/** The first thing in an answer that does not fit the request, or null when it fits. Source: I2, I4. */
export function answerFault(request: InteractionRequest, answer: InteractionAnswer): AnswerFault | null {
  if (request.kind !== answer.kind) return fault('answer.kind', `must be '${request.kind}'`)
  if (answer.kind === 'permission' && request.kind === 'permission') {
    const isKnown = request.options.some(o => o.optionId === answer.optionId)
    return isKnown
      ? null
      : fault('answer.optionId', `must be one of ${request.options.map(o => o.optionId).join(', ')}`)
  }
  if (answer.kind === 'question' && request.kind === 'question') return questionFault(request, answer.answers)
  if (answer.kind === 'form' && request.kind === 'form') return formFault(request, answer.values)
  return null
}

/** True when two answers to a request say the same: the order in which labels were chosen does not count. Source: I4. */
export function isEquivalent(request: InteractionRequest, a: InteractionAnswer, b: InteractionAnswer): boolean {
  return isCanonicallyEqual(inOrder(request, a), inOrder(request, b))
}

function inOrder(request: InteractionRequest, answer: InteractionAnswer): InteractionAnswer {
  if (request.kind !== 'question' || answer.kind !== 'question') return answer
  return {
    kind: 'question',
    answers: answer.answers.map(a => (a === null ? null : { ...a, labels: a.labels.toSorted() })),
  }
}

type QuestionAnswers = Extract<InteractionAnswer, { kind: 'question' }>['answers']

function questionFault(request: QuestionRequest, answers: QuestionAnswers): AnswerFault | null {
  const { questions } = request
  if (answers.length !== questions.length) {
    return fault('answer.answers', `must have one answer (or null) for each of the ${questions.length} questions`)
  }
  for (const [i, question] of questions.entries()) {
    const given = answers[i]
    if (given === null || given === undefined) continue
    const path = `answer.answers[${i}]`
    const unknown = given.labels.find(label => !question.options.some(o => o.label === label))
    if (unknown !== undefined) return fault(`${path}.labels`, 'must be labels of the question')
    if (new Set(given.labels).size !== given.labels.length) return fault(`${path}.labels`, 'must not repeat a label')
    if (given.labels.length > 1 && question.multiple !== true) return fault(`${path}.labels`, 'only one may be chosen')
    const takesText = question.allowText === true || question.options.length === 0
    if (given.text !== undefined && !takesText) return fault(`${path}.text`, 'the question takes no free text')
  }
  return null
}

/** A form is a flat object: required members there, no unknown ones, each of its type and one of its choices. Source: I1. */
function formFault(request: FormRequest, values: Readonly<Record<string, unknown>>): AnswerFault | null {
  const properties = (request.schema.properties ?? {}) as Record<string, Record<string, unknown>>
  const required = Array.isArray(request.schema.required) ? request.schema.required : []
  if (utf8Bytes(JSON.stringify(values)) > LIMITS.interactionRequestBytes)
    return fault('answer.values', 'is over 64 KiB')
  for (const key of Object.keys(values)) {
    if (!Object.hasOwn(properties, key)) return fault(`answer.values.${key}`, 'is not a field of the form')
  }
  for (const key of required) {
    if (typeof key === 'string' && !Object.hasOwn(values, key)) return fault(`answer.values.${key}`, 'is required')
  }
  for (const [key, value] of Object.entries(values)) {
    const why = fieldFault(properties[key] ?? {}, value)
    if (why !== null) return fault(`answer.values.${key}`, why)
  }
  return null
}

/** Why a value does not fit a field of a form, or null when it fits. `field` is the field's own JSON schema. Source: I1. */
export function fieldFault(field: Readonly<Record<string, unknown>>, value: unknown): string | null {
  const isNumber = typeof value === 'number' && Number.isFinite(value)
  switch (field.type) {
    case 'string':
      if (typeof value !== 'string') return 'must be a string'
      break
    case 'number':
      if (!isNumber) return 'must be a number'
      break
    case 'integer':
      if (!isNumber || !Number.isInteger(value)) return 'must be a whole number'
      break
    case 'boolean':
      if (typeof value !== 'boolean') return 'must be true or false'
      break
    case 'array':
      if (!Array.isArray(value) || value.some(v => typeof v !== 'string')) return 'must be a list of strings'
      break
    default:
      if (value !== null && typeof value === 'object') return 'must be a plain value'
  }
  return boundFault(field, value)
}

function boundFault(field: Readonly<Record<string, unknown>>, value: unknown): string | null {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems } = field
  if (typeof value === 'number') {
    if (typeof minimum === 'number' && value < minimum) return `must be at least ${minimum}`
    if (typeof maximum === 'number' && value > maximum) return `must be at most ${maximum}`
  }
  if (typeof value === 'string') {
    const characters = [...value].length
    if (typeof minLength === 'number' && characters < minLength) return `must have at least ${minLength} characters`
    if (typeof maxLength === 'number' && characters > maxLength) return `must have at most ${maxLength} characters`
  }
  if (Array.isArray(value)) {
    if (typeof minItems === 'number' && value.length < minItems) return `must have at least ${minItems} items`
    if (typeof maxItems === 'number' && value.length > maxItems) return `must have at most ${maxItems} items`
  }
  const choices = choicesOf(field)
  const chosen = Array.isArray(value) ? value : [value]
  if (choices !== null && chosen.some(v => !choices.includes(v))) return 'must be one of the choices'
  return null
}

/** The allowed values of a field of a form: `enum`, `oneOf` constants, or those of its items; null where any value goes. */
export function choicesOf(field: Readonly<Record<string, unknown>>): readonly unknown[] | null {
  const source = (field.type === 'array' ? field.items : field) as Record<string, unknown> | undefined
  if (Array.isArray(source?.enum)) return source.enum
  const options = source?.oneOf ?? source?.anyOf
  if (!Array.isArray(options)) return null
  const values = options.map(o => (o as Record<string, unknown> | null)?.const)
  return values.every(v => v !== undefined) ? values : null
}
