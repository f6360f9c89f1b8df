import { ERRORS, EXIT_CODES } from '../../../schema/errors.ts'
import { nearest } from '../../view/nearest.ts'
import type { CommandBody } from '../context.ts'
import { usage } from '../failure.ts'
import { renderTable } from '../output/table.ts'
import { COMMANDS, helpText } from '../program.ts'

/** What each exit code means, in words. */
const MEANINGS: Readonly<Record<keyof typeof EXIT_CODES, string>> = {
  ok: 'done; for run: the turn completed',
  unexpected: 'an unforeseen failure',
  usage: 'wrong arguments or configuration',
  refused: 'busy, archived, not found, conflict, full or invalid; or the root is owned, not empty or moved',
  unauthorized: 'the credential is missing, wrong or may only watch',
  unreachable: 'no leader, or the connection was lost and did not come back',
  incompatible: 'the versions do not fit together',
  input_needed: 'an answer is needed and nobody may give it here; the turn keeps waiting',
  turn_failed: 'the turn failed',
  turn_interrupted: 'the turn was cancelled',
  outcome_unknown: 'sent, but not known whether it was done',
  damage_found: 'damage was found',
  ownership_lost: 'the leader lost its data root',
  timeout: '--timeout has passed; a turn goes on',
  sigint: 'ended by Ctrl+C (not serve: it drains, 0)',
  sigterm: 'ended by SIGTERM (not serve: it drains, 0)',
}

const HELP_EXAMPLE = 'headwater help run'

/** `headwater help`. */
export const body: CommandBody = async (context, { args }) => {
  if (args[0] === 'exit-codes') return exitCodes(context.out.columns)
  const text = helpText(args)
  if (text !== undefined) return { result: { help: text }, text }
  const topics = [...COMMANDS.map(({ name }) => name), 'exit-codes', 'session']
  const [near] = nearest(args.join(' '), topics)
  const hint = near === undefined ? '' : `; did you mean ${near}?`
  throw usage(`there is no help on '${args.join(' ')}'${hint}`, HELP_EXAMPLE)
}

function exitCodes(width: number | undefined) {
  const rows = (Object.keys(EXIT_CODES) as (keyof typeof EXIT_CODES)[]).map(name => {
    const code = EXIT_CODES[name]
    const codes = Object.entries(ERRORS).flatMap(([wire, row]) => (row.exit === code ? [wire] : []))
    return { code, name, meaning: MEANINGS[name], codes }
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

function codeLines(rows: readonly { readonly code: number; readonly codes: readonly string[] }[]): string {
  return rows.flatMap(({ code, codes }) => (codes.length === 0 ? [] : [`${code}: ${codes.join(', ')}\n`])).join('')
}
