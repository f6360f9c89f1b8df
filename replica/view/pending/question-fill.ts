import type { InteractionAnswer, QuestionRequest } from '../../../schema/entities/interaction.ts'
import { type EditorState, EMPTY_EDITOR } from '../composer/editor.ts'
import { expanded } from '../composer/folded-text.ts'
import { type CardInput, editedText, type Filled, isBlankText, movedMark } from './fill.ts'

type Question = QuestionRequest['questions'][number]

/** What was picked for a question: options by their place, and words. `isText`: the words count. */
export interface QuestionPick {
  readonly labels: readonly number[]
  readonly isText: boolean
  readonly editor: EditorState
}

/**
 * How far questions are answered. `step` is the question that is shown; of several there is one step more, which shows all answers before they
 * are sent. `marked` is a row: the options, then the words; in the last step the questions, then the sending.
 */
export interface QuestionFill {
  readonly kind: 'question'
  readonly step: number
  readonly marked: number
  readonly picks: readonly QuestionPick[]
}

const NOTHING: QuestionPick = { labels: [], isText: false, editor: EMPTY_EDITOR }

/** Questions of which none is answered yet. */
export function openQuestions({ questions }: QuestionRequest): QuestionFill {
  return { kind: 'question', step: 0, marked: 0, picks: questions.map(() => NOTHING) }
}

/** True for a question that is answered in words, or may be. */
export function takesText({ allowText, options }: Question): boolean {
  return allowText === true || options.length === 0
}

/** True for the step behind several questions that shows all answers. */
export function isReview({ step, picks }: QuestionFill): boolean {
  return step >= picks.length
}

/** True where what is typed is words. */
export function isWriting({ questions }: QuestionRequest, fill: QuestionFill): boolean {
  const question = questions[fill.step]
  return question !== undefined && takesText(question) && fill.marked === question.options.length
}

/** The answer to one question as it stands; null where there is none. */
export function pickedAnswer(
  question: Question,
  { labels, isText, editor }: QuestionPick,
): Extract<InteractionAnswer, { kind: 'question' }>['answers'][number] {
  const chosen = question.options.filter((_, at) => labels.includes(at)).map(({ label }) => label)
  const text = isText && !isBlankText(editor) ? expanded(editor) : undefined
  if (chosen.length === 0 && text === undefined) return null
  return { labels: [...new Set(chosen)], ...(text === undefined ? {} : { text }) }
}

/** What a person does on questions; null for what means nothing here. Source: I2, experience 6.3. */
export function fillQuestions(
  request: QuestionRequest,
  fill: QuestionFill,
  input: CardInput,
): Filled<QuestionFill> | null {
  if (input.kind === 'deny') {
    return { fill, answer: { kind: 'question', answers: request.questions.map(() => null) } }
  }
  if (isReview(fill)) return onReview(request, fill, input)
  const question = request.questions[fill.step] as Question
  return isWriting(request, fill)
    ? onWords(request, fill, { question, input })
    : onOptions(request, fill, { question, input })
}

type Here = { readonly question: Question; readonly input: CardInput }

function onOptions(
  request: QuestionRequest,
  fill: QuestionFill,
  { question, input }: Here,
): Filled<QuestionFill> | null {
  const rows = question.options.length + (takesText(question) ? 1 : 0)
  switch (input.kind) {
    case 'move':
      return { fill: { ...fill, marked: movedMark(fill.marked, input.step, rows) } }
    case 'choose':
      if (input.index >= rows) return { fill, words: `There are only ${rows} to choose from.` }
      if (input.index === question.options.length) return { fill: { ...fill, marked: input.index } }
      return question.multiple === true
        ? { fill: toggled(fill, input.index) }
        : advanced(request, picked(fill, { labels: [input.index], isText: false }))
    case 'toggle':
      return question.multiple === true ? { fill: toggled(fill, fill.marked) } : null
    case 'confirm': {
      const pick = pickOf(fill)
      const isDone = question.multiple === true && (pick.labels.length > 0 || pick.isText)
      return advanced(request, isDone ? fill : picked(fill, { labels: [fill.marked], isText: false }))
    }
    case 'back':
      return fill.step === 0 ? null : { fill: atStep(request, fill, fill.step - 1) }
    case 'forward':
      return request.questions.length === 1 ? null : { fill: atStep(request, fill, fill.step + 1) }
    default:
      return null
  }
}

function onWords(request: QuestionRequest, fill: QuestionFill, { question, input }: Here): Filled<QuestionFill> | null {
  const pick = pickOf(fill)
  const { editor } = pick
  switch (input.kind) {
    case 'move':
      return { fill: { ...fill, marked: movedMark(fill.marked, input.step, question.options.length + 1) } }
    case 'edit': {
      const edited = editedText(editor, input.apply)
      if (edited === null) return null
      const isText = !isBlankText(edited.editor)
      const labels = isText && question.multiple !== true ? [] : pick.labels
      const next = picked(fill, { labels, isText, editor: edited.editor })
      return edited.words === undefined ? { fill: next } : { fill: next, words: edited.words }
    }
    case 'confirm':
      return pickedAnswer(question, pick) === null
        ? { fill, words: 'Nothing is written here yet.' }
        : advanced(request, fill)
    case 'back':
      return fill.step === 0 || editor.cursor > 0 ? null : { fill: atStep(request, fill, fill.step - 1) }
    case 'forward': {
      const isInside = editor.cursor < editor.text.length
      return request.questions.length === 1 || isInside ? null : { fill: atStep(request, fill, fill.step + 1) }
    }
    default:
      return null
  }
}

function onReview(request: QuestionRequest, fill: QuestionFill, input: CardInput): Filled<QuestionFill> | null {
  const { questions } = request
  switch (input.kind) {
    case 'move':
      return { fill: { ...fill, marked: movedMark(fill.marked, input.step, questions.length + 1) } }
    case 'choose':
      return input.index < questions.length
        ? { fill: atStep(request, fill, input.index) }
        : { fill, words: `There are only ${questions.length} questions.` }
    case 'confirm':
      return fill.marked < questions.length ? { fill: atStep(request, fill, fill.marked) } : sent(request, fill)
    case 'back':
      return { fill: atStep(request, fill, questions.length - 1) }
    default:
      return null
  }
}

function pickOf({ picks, step }: QuestionFill): QuestionPick {
  return picks[step] ?? NOTHING
}

function picked(fill: QuestionFill, change: Partial<QuestionPick>): QuestionFill {
  return { ...fill, picks: fill.picks.map((pick, at) => (at === fill.step ? { ...pick, ...change } : pick)) }
}

function toggled(fill: QuestionFill, index: number): QuestionFill {
  const { labels } = pickOf(fill)
  const next = labels.includes(index) ? labels.filter(each => each !== index) : [...labels, index]
  return { ...picked(fill, { labels: next }), marked: index }
}

/** The next question, the answers of several to be looked at, or the answer of the only one. */
function advanced(request: QuestionRequest, fill: QuestionFill): Filled<QuestionFill> {
  return request.questions.length === 1 ? sent(request, fill) : { fill: atStep(request, fill, fill.step + 1) }
}

function atStep({ questions }: QuestionRequest, fill: QuestionFill, step: number): QuestionFill {
  const question = questions[step]
  if (question === undefined) return { ...fill, step: questions.length, marked: questions.length }
  const { labels, isText } = fill.picks[step] ?? NOTHING
  return { ...fill, step, marked: isText ? question.options.length : (labels[0] ?? 0) }
}

function sent({ questions }: QuestionRequest, fill: QuestionFill): Filled<QuestionFill> {
  const answers = questions.map((question, at) => pickedAnswer(question, fill.picks[at] ?? NOTHING))
  if (answers.every(answer => answer === null)) return { fill, words: 'Nothing is answered yet.' }
  return { fill, answer: { kind: 'question', answers } }
}
