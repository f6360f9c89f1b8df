import type { ActionId, KeyContext } from './actions.ts'
import { shortChord } from './chord.ts'
import { type OfferedAction, shortened } from './help.ts'
import { actionOf, type EffectiveKeys } from './key-table.ts'

/** A key and what it does, in a word or two. */
export interface Hint {
  readonly action: ActionId
  readonly key: string
  readonly words: string
}

/** What the screen knows of an action at this moment: other words for it, or that it does nothing (`null`). */
export type HintWords = Partial<Readonly<Record<ActionId, string | null>>>

/** The most important ones first; what is not named here is never hinted at. */
const BY_IMPORTANCE: readonly ActionId[] = [
  'pending.choose',
  'pending.confirm',
  'dialog.confirm',
  'composer.send',
  'queue.steer',
  'turn.interrupt',
  'plan.approve',
  'plan.revise',
  'plan.abandon',
  'plan.resume',
  'queue.edit',
  'queue.take_back',
  'queue.resume',
  'pending.deny',
  'pending.show_all',
  'item.open',
  'session.new',
  'search.open',
  'session.archive',
  'tasks.filter',
  'plan.diff',
  'plan.open',
  'tasks.open',
  'queue.open',
  'inspector.open',
  'pending.next',
  'focus.next',
  'composer.newline',
  'session.switch',
  'screen.back',
  'connection.retry',
]

/** They stand at the end and give way last: who knows them finds the others. */
const ALWAYS: readonly ActionId[] = ['help.open', 'palette.open']

/** The hints that may be given, the most important first. Source: experience 7.1, 7.2. */
export function hintsFor(
  offered: readonly OfferedAction[],
  table: Pick<EffectiveKeys, 'keysOf'>,
  words: HintWords = {},
): readonly Hint[] {
  const takenIn = new Map<string, KeyContext>()
  const found = new Map<ActionId, Hint>()
  for (const { context, action } of offered) {
    if (found.has(action) || words[action] === null) continue
    const keys = table.keysOf(action, context).filter(key => (takenIn.get(key) ?? context) === context)
    const [key] = shortened(keys)
    if (key === undefined) continue
    for (const each of keys) takenIn.set(each, context)
    found.set(action, { action, key: shortChord(key), words: words[action] ?? actionOf(action).hint })
  }
  return [...BY_IMPORTANCE, ...ALWAYS].flatMap(action => found.get(action) ?? [])
}

/** Those hints that fit, in the order in which they are shown. `widthOf` measures one, `gap` is what stands between two. */
export function fittingHints(
  hints: readonly Hint[],
  {
    columns,
    gap,
    widthOf,
  }: { readonly columns: number; readonly gap: number; readonly widthOf: (hint: Hint) => number },
): readonly Hint[] {
  let left = columns + gap
  const taken = new Set<Hint>()
  const isAlways = ({ action }: Hint): boolean => ALWAYS.includes(action)
  for (const hint of [...hints.filter(isAlways), ...hints.filter(each => !isAlways(each))]) {
    const width = widthOf(hint) + gap
    if (width > left) continue
    taken.add(hint)
    left -= width
  }
  return hints.filter(hint => taken.has(hint))
}
