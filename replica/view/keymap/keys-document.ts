import { KEY_CONTEXTS } from './actions.ts'
import { contextTitle, type HelpGroup, shortened } from './help.ts'
import { ACTION_IDS, actionOf, createKeyTable, type EffectiveKeys, SHARED_KEYS } from './key-table.ts'

/** Every action by place, also those that have no key there and are left to the palette. */
export function allKeys(table: Pick<EffectiveKeys, 'keysOf'> = createKeyTable()): readonly HelpGroup[] {
  return KEY_CONTEXTS.map(context => ({
    context,
    title: contextTitle(context),
    rows: ACTION_IDS.filter(id => actionOf(id).contexts.includes(context)).map(action => ({
      action,
      keys: shortened(table.keysOf(action, context)),
      label: actionOf(action).label,
    })),
  }))
}

/** The keys as a page of the docs; `KEYS.md` is this text. */
export function keysMarkdown(): string {
  const shared = SHARED_KEYS.map(
    ({ context, chord, actions, reason }) =>
      `- ${code(chord)} in ${code(context)}: ${actions.map(code).join(', ')}; ${reason}.`,
  )
  return [
    '# Keys of the terminal replica',
    '',
    '<!-- Made of the table in actions.ts: HEADWATER_RECORD_TABLES=1 npx vitest run test/tui/keymap -->',
    '',
    'A key is looked up in the part of the screen that has the focus, then further out, last in `global`. `keymap.jsonc` gives keys other',
    'meanings by the names of places and actions below: `{ "composer": { "ctrl+s": "queue.steer", "ctrl+x": null } }`; `null` takes a meaning away.',
    '',
    'Two meanings in one place:',
    '',
    ...shared,
    ...allKeys().flatMap(({ context, title, rows }) => [
      '',
      `## ${title} (${code(context)})`,
      '',
      '| Key | Action | What it does |',
      '|---|---|---|',
      ...rows.map(
        ({ action, keys, label }) =>
          `| ${keys.length === 0 ? 'palette' : keys.map(code).join(' ')} | ${code(action)} | ${label} |`,
      ),
    ]),
    '',
  ].join('\n')
}

function code(text: string): string {
  return `\`${text}\``
}
