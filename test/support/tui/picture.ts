import type { PlacedCell, TestTerminal } from './terminal.ts'

/** The size of a cell, in the units of the picture. */
const CELL = { width: 8.4, height: 18 } as const
const MARGIN = 14

interface Colours {
  readonly background: string
  readonly text: string
  /** The eight colours of a terminal, and their bright ones. */
  readonly palette: readonly string[]
}

/** What a terminal looks like; the program knows nothing of it. */
const LOOKS: Readonly<Record<'dark' | 'light', Colours>> = {
  dark: {
    background: '#16181d',
    text: '#d7dae0',
    palette: ['#3b3f4a', '#e06c75', '#98c379', '#e5c07b', '#61afef', '#c678dd', '#56b6c2', '#d7dae0'],
  },
  light: {
    background: '#fbfbf9',
    text: '#2b2d33',
    palette: ['#2b2d33', '#c0392b', '#2f7d32', '#9a6700', '#1f5fbf', '#8e44ad', '#0b7285', '#8a8f98'],
  },
}

/** The screen as an SVG picture with a title for who cannot see it, drawn from its cells. */
export function pictureOf(terminal: TestTerminal, title: string, look: 'dark' | 'light' = 'dark'): string {
  const rows = terminal.cells()
  const columns = Math.max(...rows.map(row => (row.at(-1)?.column ?? 0) + (row.at(-1)?.width ?? 0)))
  const width = Math.ceil(columns * CELL.width + 2 * MARGIN)
  const height = Math.ceil(rows.length * CELL.height + 2 * MARGIN)
  const colours = LOOKS[look]
  const drawn = rows.flatMap((row, y) => row.flatMap(cell => drawnCell(cell, y, colours)))
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`,
    ` font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14" xml:space="preserve">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${width}" height="${height}" rx="10" fill="${colours.background}"/>`,
    ...drawn,
    '</svg>\n',
  ].join('\n')
}

function drawnCell(cell: PlacedCell, row: number, { background, text, palette }: Colours): readonly string[] {
  const x = (MARGIN + cell.column * CELL.width).toFixed(1)
  const y = MARGIN + row * CELL.height
  const colour = (cell.colour === -1 ? undefined : palette[cell.colour % 8]) ?? text
  const [front, behind] = cell.isInverse ? [background, colour] : [colour, null]
  const width = (cell.width * CELL.width).toFixed(1)
  const parts: string[] = []
  if (behind !== null) parts.push(`<rect x="${x}" y="${y}" width="${width}" height="${CELL.height}" fill="${behind}"/>`)
  if (cell.text.trim() === '') return parts
  const style = [
    `fill="${front}"`,
    cell.isBold ? 'font-weight="bold"' : '',
    cell.isDim ? 'opacity="0.6"' : '',
    cell.isUnderlined ? 'text-decoration="underline"' : '',
  ].filter(Boolean)
  parts.push(`<text x="${x}" y="${y + 14}" ${style.join(' ')}>${escaped(cell.text)}</text>`)
  return parts
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
