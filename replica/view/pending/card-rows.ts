import type { QuestionRequest } from '../../../schema/entities/interaction.ts'
import type { EditorState } from '../composer/editor.ts'
import { formFields } from '../interaction-words.ts'
import { optionNote } from './card-words.ts'
import type { Card } from './deck.ts'
import { type FieldFill, type FormFill, faultOf, fieldChoices, takesSeveral } from './form-fill.ts'
import { isReview, pickedAnswer, type QuestionFill, takesText } from './question-fill.ts'
import { visibleLine } from './visible-text.ts'

/** What stands on a card to be chosen or filled in. `number` is the key that chooses it; `isChosen` is null where choosing is answering. */
export type CardRow = { readonly isMarked: boolean } & (
  | {
      readonly kind: 'option'
      readonly number: number
      readonly label: string
      readonly note: string
      readonly isChosen: boolean | null
      readonly isSeveral: boolean
    }
  | { readonly kind: 'text'; readonly number: number; readonly editor: EditorState; readonly isChosen: boolean }
  | { readonly kind: 'pick'; readonly number: number; readonly label: string; readonly answer: string | null }
  | {
      readonly kind: 'field'
      readonly label: string
      readonly note: string
      readonly value: FieldValue
      readonly fault: string | null
    }
  | { readonly kind: 'send'; readonly label: string }
)

/** What a field holds, as it is shown. */
export type FieldValue =
  | { readonly kind: 'text'; readonly editor: EditorState }
  | { readonly kind: 'choice'; readonly choices: readonly ShownChoice[]; readonly isSeveral: boolean }

/** A choice of a field. `isAt`: the keys are on it. */
export interface ShownChoice {
  readonly label: string
  readonly isChosen: boolean
  readonly isAt: boolean
}

/** The rows of a card, in the order in which the mark goes through them. Texts of others come with nothing hidden. Source: Z6, experience 6.3. */
export function cardRows({ interaction: { request }, fill }: Card): readonly CardRow[] {
  if (request.kind === 'permission') {
    return request.options.map((option, at) => ({
      kind: 'option',
      number: at + 1,
      label: visibleLine(option.label),
      note: visibleLine(optionNote(option, request)),
      isMarked: at === fill.marked,
      isChosen: null,
      isSeveral: false,
    }))
  }
  if (request.kind === 'question' && fill.kind === 'question') {
    return isReview(fill) ? reviewRows(request, fill) : questionRows(request, fill)
  }
  return request.kind === 'form' && fill.kind === 'form' ? formRows(formFields(request), fill) : []
}

function questionRows({ questions }: QuestionRequest, { step, marked, picks }: QuestionFill): readonly CardRow[] {
  const question = questions[step]
  const pick = picks[step]
  if (question === undefined || pick === undefined) return []
  const isSeveral = question.multiple === true
  const options = question.options.map(
    ({ label, description }, at): CardRow => ({
      kind: 'option',
      number: at + 1,
      label: visibleLine(label),
      note: visibleLine(description ?? ''),
      isMarked: at === marked,
      isChosen: pick.labels.includes(at),
      isSeveral,
    }),
  )
  const at = question.options.length
  const words: CardRow = {
    kind: 'text',
    number: at + 1,
    editor: pick.editor,
    isMarked: at === marked,
    isChosen: pick.isText,
  }
  return takesText(question) ? [...options, words] : options
}

function reviewRows({ questions }: QuestionRequest, { marked, picks }: QuestionFill): readonly CardRow[] {
  const rows = questions.map((question, at): CardRow => {
    const pick = picks[at]
    const answer = pick === undefined ? null : pickedAnswer(question, pick)
    const words = answer === null ? null : [...answer.labels, answer.text ?? ''].filter(Boolean).join(', ')
    return {
      kind: 'pick',
      number: at + 1,
      label: visibleLine(question.question),
      answer: words === null ? null : visibleLine(words),
      isMarked: at === marked,
    }
  })
  return [...rows, { kind: 'send', label: 'send these answers', isMarked: marked === questions.length }]
}

function formRows(fields: ReturnType<typeof formFields>, { fields: held, marked }: FormFill): readonly CardRow[] {
  const rows = fields.flatMap((field, at): CardRow[] => {
    const fill = held[at]
    if (fill === undefined) return []
    const { title, description } = field.schema
    const label = typeof title === 'string' ? title : field.name
    const notes = [typeof description === 'string' ? description : '', field.isRequired ? '' : 'may stay empty']
    const row: CardRow = {
      kind: 'field',
      label: visibleLine(label),
      note: visibleLine(notes.filter(Boolean).join(' · ')),
      value: shownValue(field, fill),
      fault: fill.isChecked ? faultOf(field, fill) : null,
      isMarked: at === marked,
    }
    return [row]
  })
  return [...rows, { kind: 'send', label: 'send', isMarked: marked === fields.length }]
}

function shownValue(field: ReturnType<typeof formFields>[number], fill: FieldFill): FieldValue {
  if (fill.kind === 'text') return { kind: 'text', editor: fill.editor }
  const choices = (fieldChoices(field) ?? []).map(({ label }, at) => ({
    label: visibleLine(label),
    isChosen: fill.chosen.includes(at),
    isAt: at === fill.at,
  }))
  return { kind: 'choice', choices, isSeveral: takesSeveral(field) }
}
