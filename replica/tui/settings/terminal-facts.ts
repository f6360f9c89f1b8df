import type { ColourDepth } from '../text/theme.ts'

/** What the environment tells of a terminal, without asking it. */
export interface TerminalFacts {
  /** `$TERM`, '' where it is not set. */
  readonly term: string
  /** It can move its cursor, which a screen needs. */
  readonly canDraw: boolean
  readonly colours: ColourDepth
  /** Which variable says that no colours are wanted. */
  readonly colourless: string | null
  /** The locale in force, '' where none is set. */
  readonly locale: string
  readonly isUtf8: boolean
  readonly multiplexer: 'tmux' | 'screen' | null
  readonly isRemote: boolean
}

type Env = Readonly<Record<string, string | undefined>>

/** Reads what the environment tells of the terminal. Source: experience 7.3. */
export function readTerminal(env: Env): TerminalFacts {
  const { TERM: term = '' } = env
  const locale = firstSet(env, ['LC_ALL', 'LC_CTYPE', 'LANG']) ?? ''
  const colourless = firstSet(env, ['NO_COLOR']) === undefined ? null : 'NO_COLOR'
  return {
    term,
    canDraw: term !== '' && term !== 'dumb',
    colours: colourless === null ? coloursOf(term, env) : 'none',
    colourless,
    locale,
    isUtf8: /utf-?8/i.test(locale),
    multiplexer: multiplexerOf(term, env),
    isRemote: firstSet(env, ['SSH_CONNECTION', 'SSH_TTY', 'SSH_CLIENT']) !== undefined,
  }
}

function coloursOf(term: string, { COLORTERM, WT_SESSION }: Env): ColourDepth {
  if (term === 'dumb') return 'none'
  if (COLORTERM === 'truecolor' || COLORTERM === '24bit' || WT_SESSION) return 'truecolor'
  if (/direct$/.test(term)) return 'truecolor'
  return /256/.test(term) ? '256' : '16'
}

function multiplexerOf(term: string, { TMUX, STY }: Env): TerminalFacts['multiplexer'] {
  if (TMUX || /^tmux/.test(term)) return 'tmux'
  return STY || /^screen/.test(term) ? 'screen' : null
}

function firstSet(env: Env, names: readonly string[]): string | undefined {
  return names.map(name => env[name]).find(value => value !== undefined && value !== '')
}
