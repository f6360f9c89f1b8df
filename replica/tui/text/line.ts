/** What a piece of text means; a theme says how it looks. */
export type Tone =
  | 'normal'
  | 'dim'
  | 'accent'
  | 'good'
  | 'warn'
  | 'bad'
  | 'heading'
  | 'code'
  | 'quote'
  | 'link'
  | 'user'
  | 'thinking'

/** A piece of a row in one style. `text` is free of control characters and newlines. */
export interface Span {
  readonly text: string
  readonly tone?: Tone
  readonly bold?: boolean
  readonly italic?: boolean
  readonly underline?: boolean
  readonly strike?: boolean
  readonly inverse?: boolean
  /** Where it leads: shown as a link of the terminal where that is supported. */
  readonly href?: string
}

/** One row of the screen. */
export type Line = readonly Span[]

/** A row of one piece. */
export function lineOf(text: string, style: Omit<Span, 'text'> = {}): Line {
  return [{ text, ...style }]
}

/** A rule over the whole width, with a blank at either end. */
export function ruleLine(columns: number): Line {
  return lineOf(` ${'─'.repeat(Math.max(0, columns - 2))}`, { tone: 'dim' })
}
