import { ACTIONS, type Action, type ActionId, KEY_CONTEXTS, type KeyContext } from './actions.ts'

/** What a person changed: by context, which action a key stands for, or null for none. Keys in the notation of `chordOf`. */
export type KeyOverrides = Partial<Readonly<Record<KeyContext, Readonly<Record<string, ActionId | null>>>>>

/** A key that stands for several actions in one context, without being on the list of those that may. */
export interface KeyConflict {
  readonly context: KeyContext
  readonly chord: string
  readonly actions: readonly ActionId[]
}

/** The keys in force. */
export interface EffectiveKeys {
  /** Which actions a key stands for in a context, the first that applies wins. */
  actionsFor(context: KeyContext, chord: string): readonly ActionId[]
  /** The keys of an action in a context, the one to be shown first; empty where it has none. */
  keysOf(action: ActionId, context: KeyContext): readonly string[]
  readonly conflicts: readonly KeyConflict[]
}

/** A key that means two things in one context, and how it is told which. */
export interface SharedKey {
  readonly context: KeyContext
  readonly chord: string
  readonly actions: readonly ActionId[]
  readonly reason: string
}

/** The keys that may stand for two actions, in the order in which they are asked. */
export const SHARED_KEYS: readonly SharedKey[] = [
  {
    context: 'composer',
    chord: 'tab',
    actions: ['composer.queue', 'focus.next'],
    reason: 'with text while a turn runs it queues, else, and while something waits for an answer, it moves the focus',
  },
]

/** The names of all actions, in the order of the table. */
export const ACTION_IDS = Object.keys(ACTIONS) as readonly ActionId[]

/** An action of the table. */
export function actionOf(id: ActionId): Action {
  return ACTIONS[id]
}

/** The keys that the table gives an action in a context. */
export function builtInKeys(id: ActionId, context: KeyContext): readonly string[] {
  const { contexts, tui } = actionOf(id)
  if (!contexts.includes(context)) return []
  return isList(tui) ? tui : (tui[context] ?? tui.default)
}

/** The table with what a person changed: a key that was given to an action stands for nothing else in that context. Source: experience 7.2. */
export function createKeyTable(overrides: KeyOverrides = {}): EffectiveKeys {
  const byContext = new Map(KEY_CONTEXTS.map(context => [context, chordsOf(context, overrides[context] ?? {})]))
  return {
    actionsFor: (context, chord) => byContext.get(context)?.get(chord) ?? [],
    keysOf: (action, context) => {
      const keys = [...(byContext.get(context) ?? [])].flatMap(([chord, ids]) => (ids.includes(action) ? [chord] : []))
      const order = builtInKeys(action, context)
      return keys.sort((a, b) => order.indexOf(a) - order.indexOf(b))
    },
    conflicts: [...byContext].flatMap(([context, chords]) => conflictsOf(context, chords)),
  }
}

function chordsOf(
  context: KeyContext,
  overrides: Readonly<Record<string, ActionId | null>>,
): ReadonlyMap<string, readonly ActionId[]> {
  const chords = new Map<string, readonly ActionId[]>()
  for (const id of ACTION_IDS) {
    for (const chord of builtInKeys(id, context)) chords.set(chord, [...(chords.get(chord) ?? []), id])
  }
  for (const [chord, id] of Object.entries(overrides)) chords.set(chord, id === null ? [] : [id])
  return chords
}

/** The keys of a context that stand for several actions, but for those on the list. */
export function conflictsOf(
  context: KeyContext,
  chords: ReadonlyMap<string, readonly ActionId[]>,
): readonly KeyConflict[] {
  return [...chords].flatMap(([chord, actions]) =>
    actions.length < 2 || isShared(context, chord, actions) ? [] : [{ context, chord, actions }],
  )
}

function isShared(context: KeyContext, chord: string, actions: readonly ActionId[]): boolean {
  return SHARED_KEYS.some(
    shared =>
      shared.context === context &&
      shared.chord === chord &&
      shared.actions.length === actions.length &&
      shared.actions.every((id, at) => id === actions[at]),
  )
}

function isList(keys: Action['tui']): keys is readonly string[] {
  return Array.isArray(keys)
}
