import { ERRORS, EXIT_CODES } from '../../../schema/errors.ts'
import { nearest } from '../../view/nearest.ts'
import type { CommandBody } from '../context.ts'
import { usage } from '../failure.ts'
import { renderTable } from '../output/table.ts'
import { COMMANDS, helpText } from '../program.ts'
import { EXIT_MEANINGS } from './explain/exit-words.ts'

const HELP_EXAMPLE = 'headwater help run'

/** `headwater help`. */
export const body: CommandBody = async (context, { args }) => {
  if (args[0] === 'exit-codes') return exitCodes(context.out.columns)
  if (args[0] === 'keys') return keys(context.out.columns)
  const text = helpText(args)
  if (text !== undefined) return { result: { help: text }, text }
  const topics = [...COMMANDS.map(({ name }) => name), 'exit-codes', 'keys', 'session']
  const [near] = nearest(args.join(' '), topics)
  const hint = near === undefined ? '' : `; did you mean ${near}?`
  throw usage(`there is no help on '${args.join(' ')}'${hint}`, HELP_EXAMPLE)
}

function exitCodes(width: number | undefined) {
  const rows = (Object.keys(EXIT_CODES) as (keyof typeof EXIT_CODES)[]).map(name => {
    const code = EXIT_CODES[name]
    const codes = Object.entries(ERRORS).flatMap(([wire, row]) => (row.exit === code ? [wire] : []))
    return { code, name, meaning: EXIT_MEANINGS[name], codes }
  })
  const columns = [{ heading: 'EXIT' }, { heading: 'NAME' }, { heading: 'MEANING' }]
  const cells = rows.map(row => [String(row.code), row.name, row.meaning])
  const withCodes = rows.map(({ codes }, i) => [...cells[i]!, codes.join(' ')])
  // The codes of one row are wider than any terminal, so there they follow the table.
  const text =
    width === undefined
      ? renderTable([...columns, { heading: 'CODES' }], withCodes)
      : `${renderTable(columns, cells, width)}\n${codeLines(rows)}`
  return { result: { exitCodes: rows }, text }
}

async function keys(width: number | undefined) {
  const { allKeys } = await import('../../view/keymap/keys-document.ts')
  const groups = allKeys()
  const columns = [{ heading: 'KEYS' }, { heading: 'ACTION' }, { heading: 'WHAT IT DOES' }]
  const rowsOf = (group: (typeof groups)[number]) =>
    group.rows.map(row => [row.keys.length === 0 ? 'palette' : row.keys.join(' '), row.action, row.label])
  // Piped, each line says its place itself.
  const text =
    width === undefined
      ? renderTable(
          [{ heading: 'PLACE' }, ...columns],
          groups.flatMap(group => rowsOf(group).map(row => [group.context, ...row])),
        )
      : groups
          .map(group => `${group.title} (${group.context})\n${renderTable(columns, rowsOf(group), width)}`)
          .join('\n')
  return { result: { keys: groups.flatMap(({ context, rows }) => rows.map(row => ({ context, ...row }))) }, text }
}

function codeLines(rows: readonly { readonly code: number; readonly codes: readonly string[] }[]): string {
  return rows.flatMap(({ code, codes }) => (codes.length === 0 ? [] : [`${code}: ${codes.join(', ')}\n`])).join('')
}
