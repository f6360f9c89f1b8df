import { expect, test } from 'vitest'
import { answerFault, isEquivalent } from '../../schema/entities/answer-shape.ts'
import { type FormRequest, type InteractionAnswer, InteractionRequest } from '../../schema/entities/interaction.ts'
import { LIMITS } from '../../schema/limits.ts'

const OPTIONS = [{ label: 'a' }, { label: 'b' }]
const REQUEST: InteractionRequest = {
  kind: 'question',
  questions: [
    { question: 'one of', options: OPTIONS },
    { question: 'any of', options: OPTIONS, multiple: true },
    { question: 'free', options: [] },
    { question: 'or free', options: OPTIONS, allowText: true },
  ],
}

type Answers = Extract<InteractionAnswer, { kind: 'question' }>['answers']
const NONE: Answers = [null, null, null, null]
const at = (index: number, given: Answers[number]): Answers => NONE.map((none, i) => (i === index ? given : none))

test.each<[Answers, string | null]>([
  [NONE, null],
  [[], 'answer.answers'],
  [[null, null, null], 'answer.answers'],
  [[...NONE, null], 'answer.answers'],
  [at(0, { labels: ['a'] }), null],
  [at(0, { labels: [] }), null],
  [at(0, { labels: ['c'] }), 'answer.answers[0].labels'],
  [at(0, { labels: ['a', 'b'] }), 'answer.answers[0].labels'],
  [at(0, { labels: ['a', 'a'] }), 'answer.answers[0].labels'],
  [at(0, { labels: ['a'], text: 'x' }), 'answer.answers[0].text'],
  [at(1, { labels: ['b', 'a'] }), null],
  [at(1, { labels: ['b', 'b'] }), 'answer.answers[1].labels'],
  [at(2, { labels: [], text: 'x' }), null],
  [at(2, { labels: ['a'] }), 'answer.answers[2].labels'],
  [at(3, { labels: ['a'], text: 'and' }), null],
  [at(3, { labels: [], text: 'x' }), null],
])('I2 I4 answers %j have their fault at %s', (answers, path) => {
  expect(answerFault(REQUEST, { kind: 'question', answers })?.path ?? null).toBe(path)
})

const PERMISSION: InteractionRequest = {
  kind: 'permission',
  toolCallId: 'c',
  title: 't',
  toolKind: 'edit',
  options: [{ optionId: 'yes', label: 'Yes', kind: 'allow_once' }],
}

test('I2 I4 a permission takes one of its options, and every request its own kind', () => {
  expect(answerFault(PERMISSION, { kind: 'permission', optionId: 'yes' })).toBeNull()
  expect(answerFault(PERMISSION, { kind: 'permission', optionId: 'no' })?.path).toBe('answer.optionId')
  expect(answerFault(PERMISSION, { kind: 'question', answers: [] })?.path).toBe('answer.kind')
  expect(answerFault(REQUEST, { kind: 'form', values: {} })?.path).toBe('answer.kind')
})

const FORM: FormRequest = {
  kind: 'form',
  schema: {
    type: 'object',
    required: ['name'],
    properties: {
      name: { type: 'string', minLength: 2, maxLength: 4 },
      age: { type: 'integer', minimum: 0, maximum: 150 },
      share: { type: 'number', minimum: 0.5 },
      ok: { type: 'boolean' },
      size: { type: 'string', enum: ['s', 'm'] },
      colour: { type: 'string', oneOf: [{ const: 'red' }, { const: 'blue' }] },
      tags: { type: 'array', items: { enum: ['x', 'y', 'z'] }, minItems: 1, maxItems: 2 },
      anything: {},
    },
  },
}

test.each<[Record<string, unknown>, string | null]>([
  [{ name: 'Ada' }, null],
  [{}, 'name'],
  [{ name: 7 }, 'name'],
  [{ name: 'A' }, 'name'],
  [{ name: 'Adeline' }, 'name'],
  [{ name: '😀😀😀😀' }, null],
  [{ name: '😀' }, 'name'],
  [{ name: 'Ada', other: 1 }, 'other'],
  [{ name: 'Ada', toString: 1 }, 'toString'],
  [{ name: 'Ada', age: 36 }, null],
  [{ name: 'Ada', age: 36.5 }, 'age'],
  [{ name: 'Ada', age: -1 }, 'age'],
  [{ name: 'Ada', age: 151 }, 'age'],
  [{ name: 'Ada', age: '36' }, 'age'],
  [{ name: 'Ada', share: 0.5 }, null],
  [{ name: 'Ada', share: 0.4 }, 'share'],
  [{ name: 'Ada', share: Number.NaN }, 'share'],
  [{ name: 'Ada', ok: true }, null],
  [{ name: 'Ada', ok: 'true' }, 'ok'],
  [{ name: 'Ada', size: 'm' }, null],
  [{ name: 'Ada', size: 'l' }, 'size'],
  [{ name: 'Ada', colour: 'blue' }, null],
  [{ name: 'Ada', colour: 'green' }, 'colour'],
  [{ name: 'Ada', tags: ['x', 'z'] }, null],
  [{ name: 'Ada', tags: [] }, 'tags'],
  [{ name: 'Ada', tags: ['x', 'y', 'z'] }, 'tags'],
  [{ name: 'Ada', tags: ['w'] }, 'tags'],
  [{ name: 'Ada', tags: 'x' }, 'tags'],
  [{ name: 'Ada', tags: [1] }, 'tags'],
  [{ name: 'Ada', anything: null }, null],
  [{ name: 'Ada', anything: { deep: 1 } }, 'anything'],
])('I1 I4 form values %j have their fault at %s', (values, field) => {
  const path = field === null ? null : `answer.values.${field}`
  expect(answerFault(FORM, { kind: 'form', values })?.path ?? null).toBe(path)
})

test('I1 a form answer is bounded, and a form without fields takes an empty answer', () => {
  const schema = { properties: { text: { type: 'string' } } }
  const values = { text: 'x'.repeat(LIMITS.interactionRequestBytes) }
  expect(answerFault({ kind: 'form', schema }, { kind: 'form', values })?.path).toBe('answer.values')
  expect(answerFault({ kind: 'form', schema: {} }, { kind: 'form', values: {} })).toBeNull()
})

test.each([
  [{}, true],
  [{ type: 'object' }, true],
  [FORM.schema, true],
  [{ type: 'string' }, false],
  [{ properties: [] }, false],
  [{ properties: { a: true } }, false],
  [{ properties: { a: { type: 'object' } } }, false],
  [{ properties: { a: { type: 'array', items: { type: 'object' } } } }, false],
  [{ properties: Object.fromEntries(Array.from({ length: 64 }, (_, i) => [`f${i}`, {}])) }, true],
  [{ properties: Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`f${i}`, {}])) }, false],
])('I1 a form %j is flat: %s', (schema, isFlat) => {
  expect(InteractionRequest.safeParse({ kind: 'form', schema }).success).toBe(isFlat)
})

test('I4 the order of chosen labels does not make another answer, everything else does', () => {
  const say = (...answers: Answers): InteractionAnswer => ({ kind: 'question', answers })
  expect(isEquivalent(REQUEST, say({ labels: ['a', 'b'] }), say({ labels: ['b', 'a'] }))).toBe(true)
  expect(isEquivalent(REQUEST, say({ labels: ['a'] }), say({ labels: ['a', 'b'] }))).toBe(false)
  expect(isEquivalent(REQUEST, say({ labels: ['a'] }), say({ labels: ['a'], text: '' }))).toBe(false)
  expect(isEquivalent(REQUEST, say(null), say({ labels: [] }))).toBe(false)
  const form = (values: Record<string, unknown>): InteractionAnswer => ({ kind: 'form', values })
  expect(isEquivalent(FORM, form({ a: 1, b: ['x', 'y'] }), form({ b: ['x', 'y'], a: 1 }))).toBe(true)
  expect(isEquivalent(FORM, form({ b: ['x', 'y'] }), form({ b: ['y', 'x'] }))).toBe(false)
})
