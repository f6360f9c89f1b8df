import { BIN } from '../leader-process.ts'
import type { TestRoot } from '../live/test-root.ts'
import { openTerminal, type TerminalOptions, type TestTerminal } from './terminal.ts'

/** How the terminal replica is called: arguments behind `headwater tui`, variables on top of the isolated ones. */
export type HeadwaterTerminalOptions = Omit<TerminalOptions, 'argv'> & { readonly args?: readonly string[] }

/** `headwater tui` on a root, in a terminal of its own, as a person calls it. The root's test directory holds all it writes. */
export function openHeadwater(root: TestRoot, options: HeadwaterTerminalOptions = {}): TestTerminal {
  const { args = [], env, ...others } = options
  return openTerminal({
    ...others,
    argv: [process.execPath, BIN, '--root', root.path, 'tui', ...args],
    env: { ...process.env, HEADWATER_TESTING: '1', LANG: 'C.UTF-8', ...env },
  })
}

/** `headwater tui` on a leader at an address, which it cannot start. */
export function openHeadwaterAt(
  { url, tokenFile }: { readonly url: string; readonly tokenFile: string },
  options: HeadwaterTerminalOptions = {},
): TestTerminal {
  const { args = [], env, ...others } = options
  return openTerminal({
    ...others,
    argv: [process.execPath, BIN, '--url', url, 'tui', ...args],
    env: { ...process.env, HEADWATER_TESTING: '1', LANG: 'C.UTF-8', HEADWATER_TOKEN_FILE: tokenFile, ...env },
  })
}
