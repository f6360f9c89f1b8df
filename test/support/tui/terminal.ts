import { onTestFinished } from 'vitest'
import { startTerminal, type TerminalOptions, type TestTerminal } from './pty-terminal.ts'

export type { PlacedCell, TerminalOptions, TestTerminal } from './pty-terminal.ts'

/** Opens a terminal and starts the program in it; it does not outlive the test. */
export function openTerminal(options: TerminalOptions): TestTerminal {
  const terminal = startTerminal(options)
  onTestFinished(() => terminal.dispose())
  return terminal
}
