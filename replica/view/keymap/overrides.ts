import { LIMITS } from '../../../schema/limits.ts'
import { nearest } from '../nearest.ts'
import { type ActionId, KEY_CONTEXTS, type KeyContext } from './actions.ts'
import { isTyping, parseChord } from './chord.ts'
import { ACTION_IDS, actionOf, createKeyTable, type KeyOverrides } from './key-table.ts'

/** A line of `keymap.jsonc` as it was written: what `key` stands for in `context`, and where it says so. */
export interface WrittenBinding {
  readonly context: string
  readonly key: string
  readonly action: unknown
  readonly line: number
  readonly column: number
}

/** What is wrong with a line. */
export interface BindingProblem {
  readonly line: number
  readonly column: number
  readonly message: string
}

/** What a person's lines change about the keys; a line that is wrong is left out and named. */
export interface ReadBindings {
  readonly overrides: KeyOverrides
  readonly problems: readonly BindingProblem[]
}

/** Where characters are text, and what may yet be called with one: it waits for an empty draft. */
const TEXT_CONTEXTS: Partial<Readonly<Record<KeyContext, readonly ActionId[]>>> = {
  composer: ['help.open', 'palette.open'],
  palette: [],
  dialog: [],
}

/** Checks a person's keys one by one and takes those that mean something. Never throws. Source: experience 7.2. */
export function readBindings(written: readonly WrittenBinding[]): ReadBindings {
  const taken = new Map<KeyContext, Map<string, ActionId | null>>()
  const problems: BindingProblem[] = []
  for (const binding of written.slice(0, LIMITS.keymapBindings)) {
    const read = readBinding(binding)
    if (typeof read === 'string') {
      problems.push(problemAt(binding, read))
      continue
    }
    const inContext = taken.get(read.context) ?? new Map<string, ActionId | null>()
    taken.set(read.context, inContext)
    if (inContext.has(read.chord)) {
      problems.push(problemAt(binding, `${read.context}: ${read.chord} stands here twice; the first one counts`))
    } else inContext.set(read.chord, read.action)
  }
  const rest = written[LIMITS.keymapBindings]
  if (rest !== undefined) problems.push(problemAt(rest, `only ${LIMITS.keymapBindings} keys are read`))
  const overrides = Object.fromEntries(
    [...taken].map(([context, chords]) => [context, Object.fromEntries(chords)]),
  ) as KeyOverrides
  return { overrides, problems: [...problems, ...homeless(written, overrides)].slice(0, LIMITS.settingsProblems) }
}

interface Binding {
  readonly context: KeyContext
  readonly chord: string
  readonly action: ActionId | null
}

/** The binding, or what is wrong with it. */
function readBinding({ context, key, action }: WrittenBinding): Binding | string {
  if (!isContext(context)) return `there is no place "${context}" for keys${meant(context, KEY_CONTEXTS)}`
  const chord = parseChord(key)
  if (chord === undefined) return `"${key}" is no key of a terminal`
  if (action === null) return { context, chord, action }
  if (typeof action !== 'string') return `${context}: ${chord} needs the name of an action, or null`
  if (!isAction(action)) return `there is no action "${action}"${meant(action, ACTION_IDS)}`
  if (!actionOf(action).contexts.includes(context)) {
    return `${action} does nothing in ${context}, only in ${actionOf(action).contexts.join(', ')}`
  }
  const allowed = TEXT_CONTEXTS[context]
  if (allowed !== undefined && isTyping(chord) && !allowed.includes(action)) {
    return `${context}: ${chord} is text there; take a key with ctrl or alt`
  }
  return { context, chord, action }
}

/** Actions that have lost their last key in a context without being unbound on purpose: to another action. */
function homeless(written: readonly WrittenBinding[], overrides: KeyOverrides): readonly BindingProblem[] {
  const before = createKeyTable()
  const after = createKeyTable(overrides)
  return Object.entries(overrides).flatMap(([name, chords]) => {
    const context = name as KeyContext
    return Object.entries(chords).flatMap(([chord, action]) => {
      const line = written.find(binding => binding.context === context && parseChord(binding.key) === chord)
      if (action === null || line === undefined) return []
      return before
        .actionsFor(context, chord)
        .filter(id => id !== action && after.keysOf(id, context).length === 0)
        .map(id => problemAt(line, `${context}: ${chord} is ${action} now, so ${id} has no key left there`))
    })
  })
}

function problemAt({ line, column }: WrittenBinding, message: string): BindingProblem {
  return { line, column, message }
}

function isContext(text: string): text is KeyContext {
  return (KEY_CONTEXTS as readonly string[]).includes(text)
}

function isAction(text: string): text is ActionId {
  return (ACTION_IDS as readonly string[]).includes(text)
}

function meant(text: string, candidates: readonly string[]): string {
  const [near] = nearest(text, candidates)
  return near === undefined ? '' : `; did you mean "${near}"?`
}
