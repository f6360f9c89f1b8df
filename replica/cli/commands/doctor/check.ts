import pc from 'picocolors'
import { commandText } from '../../../view/command-text.ts'
import { terminalLine } from '../../../view/terminal-text.ts'
import type { GlobalFlags } from '../../context.ts'

/** How a check went: `warn` is worth a look, `fail` keeps this root from working or is damage. */
export type CheckState = 'ok' | 'warn' | 'fail'

/** One thing the doctor looked at. `next` is what to do about it, a command where there is one. */
export interface Check {
  readonly name: string
  readonly state: CheckState
  readonly text: string
  readonly next?: string
}

/** A check that went well. */
export function ok(name: string, text: string): Check {
  return { name, state: 'ok', text }
}

/** A check that is worth a look. */
export function warn(name: string, text: string, next?: string): Check {
  return { name, state: 'warn', text, ...(next === undefined ? {} : { next }) }
}

/** A check that found something wrong. */
export function fail(name: string, text: string, next?: string): Check {
  return { name, state: 'fail', text, ...(next === undefined ? {} : { next }) }
}

/** A longer name, which has an id in it, does not push the others aside. */
const WIDEST_NAME = 16

/** The checks as lines for people. Colours only where they are shown. */
export function renderChecks(
  checks: readonly Check[],
  hasColour: boolean,
  place: Pick<GlobalFlags, 'root' | 'url'> = {},
): string {
  const { green, yellow, red, dim } = pc.createColors(hasColour)
  const paint = { ok: green, warn: yellow, fail: red }
  const names = checks.map(({ name }) => name.length).filter(length => length <= WIDEST_NAME)
  const width = Math.max(0, ...names) + 2
  return checks
    .map(({ name, state, text, next }) => {
      const line = `${paint[state](state.padEnd(6))}${terminalLine(name).padEnd(width - 2)}  ${terminalLine(commandText(text, place))}\n`
      return next === undefined
        ? line
        : `${line}${' '.repeat(6)}${dim(`next: ${terminalLine(commandText(next, place))}`)}\n`
    })
    .join('')
}
