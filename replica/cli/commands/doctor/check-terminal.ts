import { readTerminal, type TerminalFacts } from '../../../tui/settings/terminal-facts.ts'
import { type Check, ok, warn } from './check.ts'

/** What is known of the terminal that the doctor was called from. `rows` is missing where only the width is known. */
interface CalledFrom {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly platform: string
  readonly columns: number | undefined
  readonly rows: number | undefined
}

/** Less than that and the terminal replica asks for more room. Unit: cells. Source: experience 7.1. */
const LEAST = { columns: 40, rows: 10 } as const

/** The terminal, as far as it can be told without asking it. Nothing here fails: every other command works anywhere. Source: experience 7.3. */
export function checkTerminal({ env, platform, columns, rows }: CalledFrom): Check[] {
  const facts = readTerminal(env)
  return [
    checkKind(facts, platform),
    ...checkSize(columns, rows),
    facts.colourless === null
      ? ok('colours', facts.colours)
      : ok('colours', `none are wanted: $${facts.colourless} is set`),
    checkLocale(facts, platform),
    ...checkBetween(facts),
  ]
}

function checkKind({ term, canDraw }: TerminalFacts, platform: string): Check {
  if (canDraw || (term === '' && platform === 'win32')) return ok('terminal', term === '' ? 'Windows' : term)
  const what = term === '' ? '$TERM is not set' : `$TERM is ${term}`
  return warn('terminal', `${what}: no screen can be drawn on it`, 'headwater run, or headwater tui --screen-reader')
}

function checkSize(columns: number | undefined, rows: number | undefined): Check[] {
  if (columns === undefined || rows === undefined) return []
  const size = `${columns}×${rows}`
  return [
    columns >= LEAST.columns && rows >= LEAST.rows
      ? ok('size', size)
      : warn('size', `${size} is too small for a screen`, `make the window at least ${LEAST.columns}×${LEAST.rows}`),
  ]
}

function checkLocale({ locale, isUtf8 }: TerminalFacts, platform: string): Check {
  if (isUtf8 || platform === 'win32') return ok('characters', isUtf8 ? locale : 'Unicode')
  const what = locale === '' ? 'no locale is set' : `the locale ${locale} is not UTF-8`
  return warn('characters', `${what}: signs beyond ASCII may be drawn wrongly`, 'set LANG=C.UTF-8')
}

function checkBetween({ multiplexer, isRemote }: TerminalFacts): Check[] {
  return [
    ...(multiplexer === 'tmux'
      ? [ok('tmux', 'for the clipboard: set -g set-clipboard on; to notice what waits: set -g focus-events on')]
      : []),
    ...(multiplexer === 'screen' ? [ok('screen', 'it passes on neither the clipboard nor links')] : []),
    ...(isRemote ? [ok('ssh', 'the clipboard is that of the other end, if its terminal takes OSC 52')] : []),
  ]
}
