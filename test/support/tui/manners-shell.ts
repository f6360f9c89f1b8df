import { expect } from 'vitest'
import { openTerminal, type TerminalOptions, type TestTerminal } from './terminal.ts'

/** A shell with job control in which 60 lines were printed, and which knows the program as `$P`. */
export async function openShell(program: string, options: Omit<TerminalOptions, 'argv'> = {}): Promise<TestTerminal> {
  const { env, ...others } = options
  const shell = openTerminal({
    ...others,
    argv: ['bash', '--norc', '--noprofile', '-i'],
    env: { ...process.env, PS1: '$ ', HISTFILE: '', P: `${process.execPath} ${program}`, ...env },
  })
  await shell.waitFor('$')
  shell.type(`printf '\\033]0;shell title\\007'; for i in $(seq 60); do echo shell line $i; done\r`)
  await shell.waitFor(/shell line 60\n\$/)
  return shell
}

/** Waits for the program's screen and gives the id of its process. */
export async function programPid(shell: TestTerminal): Promise<number> {
  await shell.waitFor(/pid \d+[\s\S]*last row/)
  return Number(/pid (\d+)/.exec(shell.screen())?.[1])
}

/** All 60 lines of the shell are there, in order. */
export function expectShellLines(shell: TestTerminal): void {
  const lines = shell.scrollback().match(/^shell line \d+$/gm)
  expect(lines).toEqual(Array.from({ length: 60 }, (_, index) => `shell line ${index + 1}`))
}

/** What the program writes in pairs is written in pairs, and what clears the scrollback not at all. */
export function expectBalanced(written: string): void {
  expect(written).not.toContain('\u001b[3J')
  expect(count(written, /\u001b\[\?2026h/g)).toBeLessThanOrEqual(count(written, /\u001b\[\?2026l/g))
  for (const mode of ['1049', '1004', '1000', '1006']) {
    const [on, off] = ['h', 'l'].map(end => written.split(`\u001b[?${mode}${end}`).length - 1)
    expect({ mode, on }).toEqual({ mode, on: off })
  }
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0
}
