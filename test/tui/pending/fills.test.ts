import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { typed } from '../../../replica/view/composer/editor.ts'
import type { CardInput, Filled } from '../../../replica/view/pending/fill.ts'
import { fillForm, openForm } from '../../../replica/view/pending/form-fill.ts'
import { fillPermission, OPEN_PERMISSION } from '../../../replica/view/pending/permission-fill.ts'
import { fillQuestions, openQuestions } from '../../../replica/view/pending/question-fill.ts'
import { answerFault } from '../../../schema/entities/answer-shape.ts'
import type {
  FormRequest,
  InteractionAnswer,
  InteractionRequest,
  QuestionRequest,
} from '../../../schema/entities/interaction.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { assertProperty } from '../../support/property.ts'
import { FORM, PERMISSION, QUESTIONS } from '../../support/tui/interactions.ts'

const pick = (number: number): CardInput => ({ kind: 'choose', index: number - 1 })
const say = (text: string): CardInput => ({ kind: 'edit', apply: editor => typed(editor, text) })
const press = (kind: 'toggle' | 'confirm' | 'deny' | 'back' | 'forward'): CardInput => ({ kind })
const UP: CardInput = { kind: 'move', step: -1 }
const DOWN: CardInput = { kind: 'move', step: 1 }

/** What comes of keys pressed one after the other; a key that means nothing leaves all as it was. */
function after<F>(
  open: F,
  fill: (now: F, input: CardInput) => Filled<F> | null,
  inputs: readonly CardInput[],
): Filled<F> {
  let last: Filled<F> = { fill: open }
  for (const input of inputs) last = fill(last.fill, input) ?? { fill: last.fill }
  return last
}
const asked = (request: QuestionRequest, ...inputs: readonly CardInput[]) =>
  after(openQuestions(request), (now, input) => fillQuestions(request, now, input), inputs)
const filled = (request: FormRequest, ...inputs: readonly CardInput[]) =>
  after(openForm(request), (now, input) => fillForm(request, now, input), inputs)

describe('I2 questions', () => {
  const one = (over: Partial<QuestionRequest['questions'][number]>): QuestionRequest => ({
    kind: 'question',
    questions: [{ question: 'Which?', options: [{ label: 'a' }, { label: 'b' }], ...over }],
  })
  const answers = (...given: readonly unknown[]) => ({ kind: 'question', answers: given })

  test('I2 a single one is answered by its number, or by the mark', () => {
    expect(asked(one({}), pick(2)).answer).toEqual(answers({ labels: ['b'] }))
    expect(asked(one({}), DOWN, DOWN, press('confirm')).answer).toEqual(answers({ labels: ['b'] }))
    expect(asked(one({}), DOWN, UP, UP, press('confirm')).answer).toEqual(answers({ labels: ['a'] }))
    expect(asked(one({}), pick(3))).toMatchObject({ words: 'There are only 2 to choose from.' })
    expect(asked(one({}), pick(3)).answer).toBeUndefined()
  })

  test('I2 of several choices those are sent that are chosen, in the order of the options', () => {
    const request = one({ multiple: true })
    expect(asked(request, pick(2), pick(1), press('confirm')).answer).toEqual(answers({ labels: ['a', 'b'] }))
    expect(asked(request, pick(2), pick(1), pick(2), press('confirm')).answer).toEqual(answers({ labels: ['a'] }))
    expect(asked(request, DOWN, press('toggle'), press('confirm')).answer).toEqual(answers({ labels: ['b'] }))
    expect(asked(request, DOWN, press('confirm')).answer).toEqual(answers({ labels: ['b'] }))
  })

  test('I2 words take the place of one choice, and stand beside several; digits in them are text', () => {
    const words = one({ allowText: true })
    expect(asked(words, pick(3), say('12 '), say('c'), press('confirm')).answer).toEqual(
      answers({ labels: [], text: '12 c' }),
    )
    expect(asked(words, pick(3), say('c'), UP, pick(1)).answer).toEqual(answers({ labels: ['a'] }))
    expect(asked(words, pick(3), press('confirm'))).toMatchObject({ words: 'Nothing is written here yet.' })
    const both = one({ allowText: true, multiple: true })
    expect(asked(both, pick(1), pick(3), say('c'), press('confirm')).answer).toEqual(
      answers({ labels: ['a'], text: 'c' }),
    )
    expect(asked(one({ options: [] }), say('because'), press('confirm')).answer).toEqual(
      answers({ labels: [], text: 'because' }),
    )
    const full = 'x'.repeat(LIMITS.interactionTextChars)
    expect(asked(one({ options: [] }), say(full), say('y'))).toMatchObject({ words: 'No more fits in here.' })
    expect(asked(one({ options: [] }), say(full), say('y'), press('confirm')).answer).toEqual(
      answers({ labels: [], text: full }),
    )
  })

  test('experience 6.3 several go step by step, can be left open, and are looked at before they are sent', () => {
    const { fill } = asked(QUESTIONS, pick(2), press('forward'), say('no other'))
    expect(fill).toMatchObject({ step: 2, marked: 0 })
    const done = asked(QUESTIONS, pick(2), press('forward'), say('just so'), press('confirm'))
    expect(done.answer).toBeUndefined()
    expect(done.fill).toMatchObject({ step: 3, marked: 3 })
    const all = [pick(2), press('forward'), say('just so'), press('confirm')]
    expect(asked(QUESTIONS, ...all, press('confirm')).answer).toEqual(
      answers({ labels: ['blue'] }, null, { labels: [], text: 'just so' }),
    )
    const changed = [...all, pick(1), pick(1), press('forward'), press('forward'), press('confirm')]
    expect(asked(QUESTIONS, ...changed).answer).toEqual(
      answers({ labels: ['red'] }, null, { labels: [], text: 'just so' }),
    )
    expect(asked(QUESTIONS, ...all, press('back'), press('back')).fill).toMatchObject({ step: 2 })
    const empty = [press('forward'), press('forward'), press('forward'), press('confirm')]
    expect(asked(QUESTIONS, ...empty)).toMatchObject({ words: 'Nothing is answered yet.' })
    expect(asked(QUESTIONS, pick(1), press('deny')).answer).toEqual(answers(null, null, null))
  })
})

describe('I2 permissions', () => {
  const given = (...inputs: readonly CardInput[]) =>
    after(OPEN_PERMISSION, (now, input) => fillPermission(PERMISSION, now, input), inputs)

  test('I2 I7 an option is chosen by its number or the mark; declining takes the one that refuses this once', () => {
    expect(given(pick(2)).answer).toEqual({ kind: 'permission', optionId: 'always' })
    expect(given(DOWN, DOWN, DOWN, DOWN, press('confirm')).answer).toEqual({ kind: 'permission', optionId: 'never' })
    expect(given(press('deny')).answer).toEqual({ kind: 'permission', optionId: 'no' })
    expect(given(pick(5))).toMatchObject({ words: 'There are only 4 to choose from.' })
    expect(given(say('1')).answer).toBeUndefined()
    const kind = { ...PERMISSION, options: [PERMISSION.options[0]] }
    const refused = fillPermission(kind, OPEN_PERMISSION, press('deny'))
    expect([refused?.answer, refused?.words]).toEqual([undefined, 'Nothing here refuses it; stop the turn instead.'])
  })
})

describe('I1 I2 forms', () => {
  const NAME = [say('abc'), press('confirm')]

  test('I1 the values are of the types that the form names, with what it proposes; what is left empty is left out', () => {
    const { answer } = filled(FORM, ...NAME, press('confirm'), pick(2), DOWN, pick(2), DOWN, DOWN, press('confirm'))
    expect(answer).toEqual({ kind: 'form', values: { name: 'abc', count: 3, isPublic: false, channel: 'b' } })
    const lists = filled(FORM, ...NAME, DOWN, pick(1), DOWN, DOWN, pick(1), pick(2), DOWN, press('confirm'))
    expect(lists.answer).toEqual({
      kind: 'form',
      values: { name: 'abc', count: 3, isPublic: true, parts: ['docs', 'code'] },
    })
  })

  test('I1 I4 nothing is sent that does not fit, and the first field that does not has the mark', () => {
    const down = Array.from({ length: 5 }, () => DOWN)
    const early = filled(FORM, ...down, press('confirm'))
    expect([early.answer, early.words, early.fill.marked]).toEqual([undefined, '2 fields do not fit yet.', 0])
    const long = filled(FORM, say('abcdef'), DOWN, DOWN, pick(1), DOWN, DOWN, DOWN, press('confirm'))
    expect([long.answer, long.words, long.fill.marked]).toEqual([undefined, 'A field does not fit yet.', 0])
    const wrong = filled(FORM, ...NAME, say('x'), DOWN, pick(1), DOWN, DOWN, DOWN, press('confirm'))
    expect([wrong.answer, wrong.fill.marked]).toEqual([undefined, 1])
  })

  test('I1 a choice can be taken back where it may be empty, and arrows go through choices', () => {
    const at = [...NAME, DOWN, pick(1), DOWN]
    const send = [DOWN, DOWN, press('confirm')]
    const values = { name: 'abc', count: 3, isPublic: true }
    expect(filled(FORM, ...at, pick(1), pick(1), ...send).answer).toEqual({ kind: 'form', values })
    const arrows = [press('forward'), press('forward'), press('forward')]
    expect(filled(FORM, ...at, ...arrows, ...send).answer).toEqual({
      kind: 'form',
      values: { ...values, channel: 'b' },
    })
    const several = [DOWN, press('forward'), press('toggle'), DOWN, press('confirm')]
    expect(filled(FORM, ...at, ...several).answer).toEqual({ kind: 'form', values: { ...values, parts: ['code'] } })
    expect(filled(FORM, press('deny'))).toMatchObject({ words: 'A form cannot be declined; stop the turn instead.' })
  })
})

const anyInput: fc.Arbitrary<CardInput> = fc.oneof(
  fc.integer({ min: 1, max: 9 }).map(pick),
  fc.constantFrom(UP, DOWN, DOWN),
  fc.constantFrom('a', '7', ' ', 'x,y', 'b').map(say),
  fc
    .constantFrom('toggle' as const, 'confirm' as const, 'deny' as const, 'back' as const, 'forward' as const)
    .map(press),
)

test('I2 whatever keys are pressed, an answer fits what is asked', () => {
  let answers = 0
  const check = (request: InteractionRequest, given: readonly InteractionAnswer[]) => {
    for (const answer of given) expect(answerFault(request, answer)).toBeNull()
    answers += given.length
  }
  assertProperty(
    fc.property(fc.array(anyInput, { minLength: 5, maxLength: 40 }), inputs => {
      check(
        QUESTIONS,
        answersOf(openQuestions(QUESTIONS), (now, each) => fillQuestions(QUESTIONS, now, each), inputs),
      )
      check(
        PERMISSION,
        answersOf(OPEN_PERMISSION, (now, each) => fillPermission(PERMISSION, now, each), inputs),
      )
      check(
        FORM,
        answersOf(openForm(FORM), (now, each) => fillForm(FORM, now, each), inputs),
      )
    }),
    300,
  )
  expect(answers).toBeGreaterThan(100)
})

function answersOf<F>(
  open: F,
  fill: (now: F, input: CardInput) => Filled<F> | null,
  inputs: readonly CardInput[],
): InteractionAnswer[] {
  let now = open
  return inputs.flatMap(input => {
    const next = fill(now, input)
    now = next?.fill ?? now
    return next?.answer === undefined ? [] : [next.answer]
  })
}
