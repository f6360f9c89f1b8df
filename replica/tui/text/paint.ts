import type { Line, Span } from './line.ts'
import { clipLine, lineWidth } from './measure.ts'
import type { ColourDepth, Theme } from './theme.ts'

/** How rows become what is written. */
export interface Paint {
  readonly theme: Theme
  readonly depth: ColourDepth
  /** The terminal shows OSC 8 links. */
  readonly hasLinks: boolean
}

const ESC = '\u001b'
/** Links end with BEL: Ink takes one that ends with ST for text. */
const LINK = `${ESC}]8;;`
const BEL = '\u0007'

/** A row as a string of exactly `columns` columns, with its escape sequences. */
export function paintLine(line: Line, columns: number, paint: Paint): string {
  const fitted = clipLine(line, columns)
  return `${fitted.map(span => paintSpan(span, paint)).join('')}${' '.repeat(Math.max(0, columns - lineWidth(fitted)))}`
}

function paintSpan(span: Span, { theme, depth, hasLinks }: Paint): string {
  const sgr = [
    toneOf(theme[span.tone ?? 'normal'], depth),
    span.bold === true ? '1' : '',
    span.italic === true ? '3' : '',
    span.underline === true ? '4' : '',
    span.inverse === true ? '7' : '',
    span.strike === true ? '9' : '',
  ]
    .filter(Boolean)
    .join(';')
  const text = sgr === '' ? span.text : `${ESC}[${sgr}m${span.text}${ESC}[0m`
  if (span.href === undefined || !hasLinks) return text
  return `${LINK}${span.href}${BEL}${text}${LINK}${BEL}`
}

/** Without colours only the parameters that are no colours stay. */
function toneOf(sgr: string, depth: ColourDepth): string {
  if (depth !== 'none' || sgr === '') return sgr
  return sgr
    .split(';')
    .filter(part => Number(part) < 30)
    .join(';')
}
