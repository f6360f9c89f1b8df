import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commands } from '../../schema/commands/index.ts'
import { ERRORS } from '../../schema/errors.ts'
import { CLOSE_CODES, closeReaction } from '../../schema/wire/close-codes.ts'
import { PROJECT } from './source-files.ts'

/** The rows of a table, cell by cell, without marks. */
export type Rows = readonly (readonly string[])[]

/** The tables of `schema/SPEC.md` as the code would have them, by the heading they stand under. */
export function specTables(): Readonly<Record<string, Rows>> {
  return {
    '### Operations': Object.entries(commands).map(([name, operation]) => {
      return [name, operation.kind, 'identity' in operation ? (operation.identity ?? '–') : '–']
    }),
    '### Error codes': Object.entries(ERRORS).map(([code, { meaning, retry, http, exit, wire }]) => {
      return [code, meaning, retry, wire ? String(http) : 'local', String(exit)]
    }),
    '### Close codes': Object.entries(CLOSE_CODES).map(([name, code]) => [String(code), name, closeReaction(code)]),
  }
}

/** The rows of the table under a heading of a page. */
export function tableUnder(file: string, heading: string): Rows {
  const { lines, first, end } = findTable(file, heading)
  return lines.slice(first + 2, end).map(row =>
    row
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map(cell =>
        cell
          .trim()
          .replace(/^`(.*)`$/, '$1')
          .replaceAll('\\|', '|'),
      ),
  )
}

/** Columns whose cells are code. */
const MARKED: Readonly<Record<string, readonly number[]>> = {
  '### Operations': [0, 2],
  '### Error codes': [0],
  '### Close codes': [1],
}

/** Writes rows into the table under a heading of a page; `npm run format` does the rest. */
export function writeTable(file: string, heading: string, rows: Rows): void {
  const { lines, first, end } = findTable(file, heading)
  const marked = MARKED[heading] ?? []
  const written = rows.map(row => {
    const cells = row.map((cell, i) =>
      marked.includes(i) && cell !== '–' ? `\`${cell}\`` : cell.replaceAll('|', '\\|'),
    )
    return `| ${cells.join(' | ')} |`
  })
  lines.splice(first + 2, end - first - 2, ...written)
  writeFileSync(join(PROJECT, file), lines.join('\n'))
}

function findTable(file: string, heading: string): { lines: string[]; first: number; end: number } {
  const lines = readFileSync(join(PROJECT, file), 'utf8').split('\n')
  const at = lines.indexOf(heading)
  const first = lines.findIndex((line, i) => i > at && line.startsWith('|'))
  if (at === -1 || first === -1) throw new Error(`${file} has no table under ${heading}`)
  const after = lines.findIndex((line, i) => i > first && !line.startsWith('|'))
  return { lines, first, end: after === -1 ? lines.length : after }
}
