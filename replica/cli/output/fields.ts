import { terminalLine } from '../../view/terminal-text.ts'
import type { Output } from './output.ts'

/** Named values, one a line: aligned in a terminal, tab-separated elsewhere. */
export function renderFields(out: Output, fields: readonly (readonly [name: string, value: string])[]): string {
  const width = out.isTerminal ? Math.max(...fields.map(([name]) => name.length)) + 2 : undefined
  return fields
    .map(([name, value]) => `${width === undefined ? `${name}\t` : name.padEnd(width)}${terminalLine(value)}\n`)
    .join('')
}

/** An instant for people: local, to the second. */
export function formatInstant(at: number): string {
  const date = new Date(at)
  const two = (value: number) => String(value).padStart(2, '0')
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
}
