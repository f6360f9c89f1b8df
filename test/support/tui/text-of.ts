import type { Line } from '../../../replica/tui/text/line.ts'

/** Rows as text. */
export function textOf(lines: readonly Line[]): string[] {
  return lines.map(line => line.map(({ text }) => text).join(''))
}
