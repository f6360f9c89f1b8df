import { rmSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeTempDir } from '../support/temporary.ts'
import { bundleProgram } from '../support/tui/bundle-program.ts'
import { openTerminal, type TestTerminal } from '../support/tui/terminal.ts'

const directory = makeTempDir('manners')
let program = ''
beforeAll(async () => {
  program = await bundleProgram('test/support/tui/manners-program.tsx', directory)
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** A shell with job control that has printed 60 lines, and knows the program as `$P`. */
async function openShell(env: Readonly<Record<string, string>> = {}): Promise<TestTerminal> {
  const shell = openTerminal({
    argv: ['bash', '--norc', '--noprofile', '-i'],
    env: { ...process.env, PS1: '$ ', HISTFILE: '', P: `${process.execPath} ${program}`, ...env },
  })
  await shell.waitFor('$')
  shell.type(`printf '\\033]0;shell title\\007'; for i in $(seq 60); do echo shell line $i; done\r`)
  await shell.waitFor('shell line 60')
  return shell
}

test('experience 7.3 the shell is as it was after leaving, through resizes', async () => {
  const shell = await openShell()
  const before = shell.modes()
  shell.type('$P\r')
  await shell.waitFor('ready 80x23')
  console.log(shell.screen(), shell.modes())
  for (const [columns, rows] of [
    [60, 18],
    [100, 30],
    [40, 10],
    [80, 24],
  ] as const) {
    shell.resize(columns, rows)
    await shell.waitFor(`ready ${columns}x${rows - 1}`)
    await shell.waitFor(screen => screen.split('\n')[rows - 2]?.startsWith('last row'))
  }
  shell.press('q')
  await shell.waitFor('end {')
  console.log(shell.scrollback(), shell.modes())
  expect(shell.modes()).toEqual(before)
  console.log(JSON.stringify(shell.bytes().toString().slice(-3000)))
})
