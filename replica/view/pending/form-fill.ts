import { choicesOf, fieldFault } from '../../../schema/entities/answer-shape.ts'
import type { FormRequest } from '../../../schema/entities/interaction.ts'
import { type EditorState, EMPTY_EDITOR, typed } from '../composer/editor.ts'
import { expanded } from '../composer/folded-text.ts'
import { type FormField, formFields } from '../interaction-words.ts'
import { type CardInput, editedText, type Filled, movedMark } from './fill.ts'
import { fieldValue } from './typed-answers.ts'

/** A value that a field may have, and how it is called. */
export interface FieldChoice {
  readonly value: unknown
  readonly label: string
}

/** What a field holds: a text, or what is chosen of a list by place; `at` is the choice that the keys are on. `isChecked`: its fault is told. */
export type FieldFill = { readonly isChecked: boolean } & (
  | { readonly kind: 'text'; readonly editor: EditorState }
  | { readonly kind: 'choice'; readonly chosen: readonly number[]; readonly at: number }
)

/** How far a form is filled in. `marked` is a field; the row behind the last one sends. */
export interface FormFill {
  readonly kind: 'form'
  readonly marked: number
  readonly fields: readonly FieldFill[]
}

/** A form as it comes, with the values it proposes. */
export function openForm(request: FormRequest): FormFill {
  return { kind: 'form', marked: 0, fields: formFields(request).map(openField) }
}

/** What may be chosen for a field; null where a text is written. */
export function fieldChoices({ schema }: FormField): readonly FieldChoice[] | null {
  if (schema.type === 'boolean') {
    return [
      { value: true, label: 'yes' },
      { value: false, label: 'no' },
    ]
  }
  const values = choicesOf(schema)
  if (values === null || values.length === 0) return null
  const source = (schema.type === 'array' ? schema.items : schema) as Readonly<Record<string, unknown>>
  const named = source.oneOf ?? source.anyOf
  const names: readonly unknown[] = Array.isArray(named)
    ? named.map(each => (each as Readonly<Record<string, unknown>>).title)
    : Array.isArray(source.enumNames)
      ? source.enumNames
      : []
  return values.map((value, at) => ({ value, label: typeof names[at] === 'string' ? names[at] : String(value) }))
}

/** True for a field of which several choices may be taken. */
export function takesSeveral({ schema }: FormField): boolean {
  return schema.type === 'array'
}

/** What does not fit about a field as it stands, as far as the form says it; null where it fits. Source: I1. */
export function faultOf(field: FormField, fill: FieldFill): string | null {
  const value = heldValue(field, fill)
  if (value === undefined) return field.isRequired ? 'is required' : null
  return fieldFault(field.schema, value)
}

/** True where what is typed is a text. */
export function isWritingField({ fields, marked }: FormFill): boolean {
  return fields[marked]?.kind === 'text'
}

/** What a person does on a form; null for what means nothing here. Nothing is sent that does not fit. Source: I2, experience 6.3. */
export function fillForm(request: FormRequest, fill: FormFill, input: CardInput): Filled<FormFill> | null {
  const fields = formFields(request)
  const { marked } = fill
  if (input.kind === 'deny') return { fill, words: 'A form cannot be declined; stop the turn instead.' }
  if (input.kind === 'move') {
    return { fill: { ...checked(fill, marked), marked: movedMark(marked, input.step, fields.length + 1) } }
  }
  const field = fields[marked]
  const held = fill.fields[marked]
  if (field === undefined || held === undefined) return input.kind === 'confirm' ? sent(fields, fill) : null
  if (input.kind === 'confirm') return { fill: { ...checked(fill, marked), marked: marked + 1 } }
  return held.kind === 'text' ? onText(fill, held, input) : onChoices(fill, field, { held, input })
}

type Held<K extends FieldFill['kind']> = Extract<FieldFill, { kind: K }>

function onText(fill: FormFill, { editor, isChecked }: Held<'text'>, input: CardInput): Filled<FormFill> | null {
  if (input.kind !== 'edit') return null
  const edited = editedText(editor, input.apply)
  if (edited === null) return null
  const next = withField(fill, { kind: 'text', isChecked, editor: edited.editor })
  return edited.words === undefined ? { fill: next } : { fill: next, words: edited.words }
}

function onChoices(
  fill: FormFill,
  field: FormField,
  { held, input }: { readonly held: Held<'choice'>; readonly input: CardInput },
): Filled<FormFill> | null {
  const count = fieldChoices(field)?.length ?? 0
  const take = (at: number): Filled<FormFill> => ({ fill: withField(fill, taken(field, held, at)) })
  switch (input.kind) {
    case 'choose':
      return input.index < count ? take(input.index) : { fill, words: `There are only ${count} to choose from.` }
    case 'toggle':
      return take(held.at)
    case 'back':
    case 'forward': {
      const isFirst = held.chosen.length === 0 && !takesSeveral(field)
      const at = isFirst ? held.at : movedMark(held.at, input.kind === 'back' ? -1 : 1, count)
      return { fill: withField(fill, { ...held, at, chosen: takesSeveral(field) ? held.chosen : [at] }) }
    }
    default:
      return null
  }
}

/** Chosen, or not any more where it was: but of one that must be chosen another one takes the place. */
function taken(field: FormField, held: Held<'choice'>, at: number): FieldFill {
  const isChosen = held.chosen.includes(at)
  if (takesSeveral(field)) {
    return { ...held, at, chosen: isChosen ? held.chosen.filter(each => each !== at) : [...held.chosen, at] }
  }
  return { ...held, at, chosen: isChosen && !field.isRequired ? [] : [at] }
}

function withField(fill: FormFill, field: FieldFill): FormFill {
  return { ...fill, fields: fill.fields.map((each, at) => (at === fill.marked ? field : each)) }
}

function checked(fill: FormFill, index: number): FormFill {
  return { ...fill, fields: fill.fields.map((each, at) => (at === index ? { ...each, isChecked: true } : each)) }
}

function sent(fields: readonly FormField[], fill: FormFill): Filled<FormFill> {
  const faulty = fields.filter((field, at) => faultOf(field, fill.fields[at] as FieldFill) !== null)
  const all = { ...fill, fields: fill.fields.map(each => ({ ...each, isChecked: true })) }
  const [first] = faulty
  if (first !== undefined) {
    const words = faulty.length === 1 ? 'A field does not fit yet.' : `${faulty.length} fields do not fit yet.`
    return { fill: { ...all, marked: fields.indexOf(first) }, words }
  }
  const values = Object.fromEntries(
    fields.flatMap((field, at) => {
      const value = heldValue(field, fill.fields[at] as FieldFill)
      return value === undefined ? [] : [[field.name, value]]
    }),
  )
  return { fill: all, answer: { kind: 'form', values } }
}

/** The value of a field; undefined where it is left out. */
function heldValue(field: FormField, fill: FieldFill): unknown {
  if (fill.kind === 'text') {
    const text = expanded(fill.editor)
    return text === '' ? undefined : fieldValue(field.schema.type, text)
  }
  const values = (fieldChoices(field) ?? []).filter((_, at) => fill.chosen.includes(at)).map(({ value }) => value)
  if (takesSeveral(field)) return values.length === 0 && !field.isRequired ? undefined : values
  return values[0]
}

function openField(field: FormField): FieldFill {
  const choices = fieldChoices(field)
  const proposed = field.schema.default
  if (choices === null) {
    const isPlain = typeof proposed !== 'object' || Array.isArray(proposed)
    const text = proposed === undefined || !isPlain ? '' : String(proposed)
    return { kind: 'text', isChecked: false, editor: text === '' ? EMPTY_EDITOR : typed(EMPTY_EDITOR, text) }
  }
  const values: readonly unknown[] = Array.isArray(proposed) ? proposed : [proposed]
  const chosen = choices.flatMap(({ value }, at) => (values.includes(value) ? [at] : []))
  return { kind: 'choice', isChecked: false, chosen, at: chosen[0] ?? 0 }
}
