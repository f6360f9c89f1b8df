import type { ActionId, KeyContext } from './actions.ts'
import { actionOf, type EffectiveKeys } from './key-table.ts'

/** An action that does something now, and where its key is pressed. */
export interface OfferedAction {
  readonly context: KeyContext
  readonly action: ActionId
}

/** An action with its keys, `1-9` for a row of digits; a row without any is left to the palette. */
export interface HelpRow {
  readonly action: ActionId
  readonly keys: readonly string[]
  readonly label: string
}

/** What can be done in one part of the screen. */
export interface HelpGroup {
  readonly context: KeyContext
  readonly title: string
  readonly rows: readonly HelpRow[]
}

const TITLES: Readonly<Record<KeyContext, string>> = {
  global: 'Everywhere',
  composer: 'Writing',
  transcript: 'Conversation',
  queue: 'Waiting messages',
  pending: 'Question',
  list: 'Sessions',
  plan: 'Plan',
  tasks: 'Tasks',
  inspector: 'Inspector',
  palette: 'Palette',
  help: 'Help',
  dialog: 'Dialog',
}

/** What a part of the screen is called. */
export const contextTitle = (context: KeyContext): string => TITLES[context]

/**
 * What works now, by part of the screen, the innermost first. A key that an inner part takes is not told again of an outer one, nor is an
 * action. Source: experience 7.2.
 */
export function helpGroups(
  offered: readonly OfferedAction[],
  table: Pick<EffectiveKeys, 'keysOf'>,
): readonly HelpGroup[] {
  const told = new Set<ActionId>()
  const taken = new Set<string>()
  const contexts = [...new Set(offered.map(({ context }) => context))]
  return contexts.flatMap(context => {
    const here = offered.filter(each => each.context === context && !told.has(each.action))
    const rows = [...new Set(here.map(({ action }) => action))].flatMap(action => {
      const keys = table.keysOf(action, context).filter(key => !taken.has(key))
      return keys.length === 0 ? [] : [{ action, keys, label: actionOf(action).label }]
    })
    for (const { action, keys } of rows) {
      told.add(action)
      for (const key of keys) taken.add(key)
    }
    return rows.length === 0
      ? []
      : [{ context, title: TITLES[context], rows: rows.map(row => ({ ...row, keys: shortened(row.keys) })) }]
  })
}

/** Keys as they are shown: a row of three digits or more as its ends. */
export function shortened(keys: readonly string[]): readonly string[] {
  const isRow = keys.length > 2 && keys.every((key, at) => key === String(Number(keys[0]) + at))
  return isRow ? [`${keys[0]}-${keys.at(-1)}`] : keys
}
