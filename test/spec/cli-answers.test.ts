import { describe, expect, test } from 'vitest'
import { buildAnswer } from '../../replica/cli/answering/build-answer.ts'
import { summaryOf } from '../../replica/view/interaction-words.ts'
import { permissionOption } from '../../replica/view/pending/typed-answers.ts'
import type { InteractionRequest, PermissionRequest } from '../../schema/entities/interaction.ts'

const option = (label: string) => ({ label })
const two: InteractionRequest = {
  kind: 'question',
  questions: [
    { question: 'Colour?', options: [option('red'), option('blue')] },
    { question: 'Sizes?', options: [option('s'), option('m'), option('l')], multiple: true, allowText: true },
  ],
}
const permission: PermissionRequest = {
  kind: 'permission',
  toolCallId: 'call-1',
  title: 'Edit a file',
  toolKind: 'edit',
  options: [
    { optionId: 'yes', label: 'Allow', kind: 'allow_once' },
    { optionId: 'always', label: 'Always', kind: 'allow_always' },
    { optionId: 'no', label: 'Reject', kind: 'reject_once' },
  ],
}
const form: InteractionRequest = {
  kind: 'form',
  schema: { type: 'object', properties: { name: { type: 'string' }, age: { type: 'integer' } } },
}
const small: InteractionRequest = { kind: 'form', schema: { type: 'object', properties: { age: { type: 'integer' } } } }
const typed = (choose: string[], text?: string, isDenied = false) => ({
  choose,
  isDenied,
  ...(text === undefined ? {} : { text }),
})

describe('I2 what was typed becomes the answer the request asks for', () => {
  test.each([
    ['one option a question', two, typed(['2', '1']), [{ labels: ['blue'] }, { labels: ['s'] }]],
    ['several options', two, typed(['1', '1,3']), [{ labels: ['red'] }, { labels: ['s', 'l'] }]],
    ['a question left out', two, typed(['0', '2']), [null, { labels: ['m'] }]],
    [
      'words for the one that takes them',
      two,
      typed(['1'], 'huge'),
      [{ labels: ['red'] }, { labels: [], text: 'huge' }],
    ],
    ['options and words', two, typed(['1', '2'], 'or so'), [{ labels: ['red'] }, { labels: ['m'], text: 'or so' }]],
    ['no answer at all', two, typed([], undefined, true), [null, null]],
  ])('I2 question: %s', (_name, request, answer, answers) => {
    expect(buildAnswer(request, answer)).toEqual({ kind: 'question', answers })
  })

  test('I2 permission: by number, or refused', () => {
    expect(buildAnswer(permission, typed(['2']))).toEqual({ kind: 'permission', optionId: 'always' })
    expect(buildAnswer(permission, typed([], undefined, true))).toEqual({ kind: 'permission', optionId: 'no' })
  })

  test('I2 form: an object, or the only field', () => {
    expect(buildAnswer(form, typed([], '{"name":"x","age":3}'))).toEqual({
      kind: 'form',
      values: { name: 'x', age: 3 },
    })
    expect(buildAnswer(small, typed([], '7'))).toEqual({ kind: 'form', values: { age: 7 } })
  })

  test.each([
    ['nothing given', two, typed([]), /--choose/],
    ['too few', two, typed(['1']), /once for each/],
    ['too many', two, typed(['1', '1', '1']), /2 questions/],
    ['no such option', two, typed(['3', '1']), /options 1 to 2/],
    ['no number', two, typed(['red', '1']), /options 1 to 2/],
    ['several where one may be chosen', two, typed(['1,2', '1']), /one option only/],
    ['deny and choose', permission, typed(['1'], undefined, true), /alone/],
    ['text for a permission', permission, typed([], 'x'), /no text/],
    ['two options of a permission', permission, typed(['1', '2']), /one --choose/],
    ['a form refused', form, typed([], undefined, true), /cannot be refused/],
    ['words for a form of several fields', form, typed([], 'x'), /name, age/],
  ])('I2 refused with a usage error: %s', (_name, request, answer, sentence) => {
    expect(() => buildAnswer(request, answer)).toThrow(sentence)
    expect(() => buildAnswer(request, answer)).toThrow(expect.objectContaining({ code: 'usage', exitCode: 2 }))
  })
})

test.each([
  ['edit', 'src/a.ts', 'edit: src/a.ts'],
  ['edit', 'Edit a file', 'Edit a file'],
  ['other', 'Something', 'Something'],
  ['execute', '', 'execute'],
])('I1 a permission of kind %s with the title "%s" is asked as "%s"', (toolKind, title, words) => {
  expect(summaryOf({ ...permission, toolKind, title })).toBe(words)
})

test('I7 what --on-permission picks, and nothing where the request offers none', () => {
  expect(permissionOption(permission, 'deny')).toBe('no')
  expect(permissionOption(permission, 'allow-once')).toBe('yes')
  const onlyAlways = { ...permission, options: permission.options.slice(1, 2) }
  expect(permissionOption(onlyAlways, 'allow-once')).toBeUndefined()
  expect(permissionOption(onlyAlways, 'deny')).toBeUndefined()
})
