import type { Tone } from './line.ts'

/** How many colours may be used. `none` keeps bold, underline and inverse. Source: experience 7.3. */
export type ColourDepth = 'none' | '16' | '256' | 'truecolor'

/** SGR parameters for a tone, '' for the terminal's own. */
export type Theme = Readonly<Record<Tone, string>>

/** The default: the 16 colours that the person gave the terminal, and nothing else, so that it is right on light and dark. */
export const TERMINAL_THEME: Theme = {
  normal: '',
  dim: '2',
  accent: '36',
  good: '32',
  warn: '33',
  bad: '31',
  heading: '1',
  code: '36',
  quote: '2',
  link: '4;34',
  user: '1;34',
  thinking: '2;3',
}

/** Without any colour: what matters is bold or underlined. */
const PLAIN_THEME: Theme = {
  normal: '',
  dim: '2',
  accent: '1',
  good: '',
  warn: '1',
  bad: '1;4',
  heading: '1',
  code: '',
  quote: '2',
  link: '4',
  user: '1',
  thinking: '2;3',
}

/** The themes by the names that `tui.theme` may have. */
export const THEMES: Readonly<Record<string, Theme>> = { terminal: TERMINAL_THEME, plain: PLAIN_THEME }
