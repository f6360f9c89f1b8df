import fuzzysort from 'fuzzysort'
import type { CatalogRow } from '../../schema/entities/projection.ts'
import { LIMITS } from '../../schema/limits.ts'
import type { ActionId } from './keymap/actions.ts'
import type { OfferedAction } from './keymap/help.ts'
import { ACTION_IDS, actionOf, type EffectiveKeys } from './keymap/key-table.ts'
import { sessionRow, titleOf } from './session-list.ts'

/** Something that can be found and done. `key` is the one that does the same, '' where there is none; `about` says more. */
export interface PaletteEntry {
  readonly id: string
  readonly label: string
  readonly about: string
  readonly key: string
  readonly run: PaletteChoice
}

/** What was chosen. */
export type PaletteChoice =
  | { readonly kind: 'action'; readonly action: ActionId }
  | { readonly kind: 'session'; readonly sessionId: string }
  | { readonly kind: 'theme'; readonly theme: string }

/** What a palette is made of. */
export interface PaletteSource {
  /** What does something now; what is not offered is not found. */
  readonly offered: readonly OfferedAction[]
  readonly table: Pick<EffectiveKeys, 'keysOf'>
  readonly sessions: readonly CatalogRow[]
  /** Themes other than the one in force. */
  readonly themes: readonly string[]
  /** The local clock, ms. */
  readonly now: number
}

/** What can be found: the actions that do something now with their keys, the sessions, the most recent first, and the themes. Source: experience 7.2. */
export function paletteEntries({ offered, table, sessions, themes, now }: PaletteSource): readonly PaletteEntry[] {
  const actions = ACTION_IDS.flatMap(action => {
    if (actionOf(action).isLocal === true || action === 'palette.open') return []
    const here = offered.filter(each => each.action === action)
    if (here.length === 0) return []
    const [key = ''] = here.flatMap(({ context }) => table.keysOf(action, context))
    return [{ id: action, label: actionOf(action).label, about: '', key, run: { kind: 'action', action } as const }]
  })
  return [
    ...actions,
    ...byRecency(sessions).map(row => sessionEntry(row, now)),
    ...themes.map(theme => ({
      id: `theme ${theme}`,
      label: `Theme: ${theme}`,
      about: '',
      key: '',
      run: { kind: 'theme', theme } as const,
    })),
  ]
}

/** The sessions that were not put away, the most recently active first, as they are switched to. Source: experience 7.2. */
export function switcherEntries(sessions: readonly CatalogRow[], now: number): readonly PaletteEntry[] {
  return byRecency(sessions).map(row => sessionEntry(row, now))
}

function byRecency(sessions: readonly CatalogRow[]): readonly CatalogRow[] {
  return sessions.filter(({ isArchived }) => !isArchived).sort((a, b) => b.lastActivityAt - a.lastActivityAt)
}

function sessionEntry(row: CatalogRow, now: number): PaletteEntry {
  const { sessionId } = row
  const { state, waiting, activity } = sessionRow(row, now)
  const mark = waiting > 0 ? `! ${waiting > 1 ? `${state} (${waiting})` : state}` : state
  return {
    id: sessionId,
    label: titleOf(row),
    about: `${mark} · ${activity}`,
    key: '',
    run: { kind: 'session', sessionId },
  }
}

/** How well something must match to be found; 1 is exactly. */
const THRESHOLD = 0.3

/** The entries that a text means, best first; all in their order for none. */
export function filterEntries(entries: readonly PaletteEntry[], text: string): readonly PaletteEntry[] {
  const wanted = text.trim()
  if (wanted === '') return entries.slice(0, LIMITS.pickedEntries)
  return fuzzysort
    .go(wanted, entries, { keys: ['label', 'id'], limit: LIMITS.pickedEntries, threshold: THRESHOLD })
    .map(({ obj }) => obj)
}
