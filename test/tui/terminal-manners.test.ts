import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeTempDir, testTempDir } from '../support/temp-dir.ts'
import { bundleProgram } from '../support/tui/bundle-program.ts'
import { expectBalanced, expectShellLines, openShell, programPid } from '../support/tui/manners-shell.ts'
import type { TestTerminal } from '../support/tui/terminal.ts'

const directory = makeTempDir('manners')
let program = ''
beforeAll(async () => {
  program = await bundleProgram('test/support/tui/manners-program.tsx', directory)
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** Runs the program from a script, so that no shell tidies the terminal up, and keeps its settings before and after. */
const SCRIPT = `sh -c 'stty -g >$D/before; $P; echo code $?; stty -g >$D/after'\r`

/** Runs the script, lets `end` end the program, and looks at what is left. */
async function endsWell(end: (shell: TestTerminal, pid: number) => void, printed: RegExp): Promise<void> {
  const kept = testTempDir('stty')
  const shell = await openShell(program, { env: { D: kept } })
  const before = shell.modes()
  shell.type(SCRIPT)
  end(shell, await programPid(shell))
  await shell.waitFor(/code \d+\n\$ *$/)
  expect(shell.scrollback()).toMatch(printed)
  expect(shell.modes()).toEqual(before)
  expect(readFileSync(join(kept, 'after'), 'utf8')).toBe(readFileSync(join(kept, 'before'), 'utf8'))
  expectShellLines(shell)
  expectBalanced(shell.bytes().toString())
}

test('experience 7.3 the shell is as it was after leaving, whatever the window was resized to', async () => {
  const shell = await openShell(program)
  const before = shell.modes()
  shell.type('$P\r')
  await programPid(shell)
  expect(shell.modes()).toMatchObject({ isAlternate: true, isCursorHidden: true, title: '● manners — headwater' })
  const sizes = [
    [60, 18],
    [100, 30],
    [40, 10],
    [80, 24],
  ] as const
  for (const [columns, rows] of sizes) {
    shell.resize(columns, rows)
    await shell.waitFor(screen => {
      const lines = screen.split('\n')
      return (
        lines[0]?.startsWith(`ready ${columns}x${rows - 1} `) && lines[rows - 2] === 'last row'.padEnd(columns, '.')
      )
    })
  }
  shell.press('q')
  await shell.waitFor('end {"kind":"left","value":7}')
  await shell.waitFor(/\$ *$/)
  expect(shell.modes()).toEqual(before)
  expectShellLines(shell)
  expectBalanced(shell.bytes().toString())
})

test.each(['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM'] as const)(
  'experience 7.3 %s gives the terminal back',
  async signal => {
    const printed = new RegExp(`end {"kind":"signal","signal":"${signal}"}\\ncode 99`)
    await endsWell((_shell, pid) => process.kill(pid, signal), printed)
  },
)

test.each([
  ['X', /nobody catches this[\s\S]*code 1/],
  ['K', /a component threw[\s\S]*code 1/],
  ['E', /code 3/],
] as const)('experience 7.3 an end by an exception or exit gives the terminal back: %s', async (key, printed) => {
  await endsWell(shell => shell.press(key), printed)
})

test('experience 7.2 it stops as other programs do, and is back after fg', async () => {
  const shell = await openShell(program, { hasKittyKeys: true })
  const before = shell.modes()
  shell.type('$P\r')
  const pid = await programPid(shell)
  await shell.waitFor(() => shell.modes().kittyKeys === 1)
  const during = shell.modes()
  const stops = [() => shell.press('z'), () => process.kill(pid, 'SIGTSTP')]
  for (const stop of stops) {
    stop()
    await shell.waitFor(/Stopped[\s\S]*\$ *$/)
    expect(shell.modes()).toEqual(before)
    expectShellLines(shell)
    shell.resize(70, 20)
    shell.type('fg\r')
    await shell.waitFor(/^ready 70x19[\s\S]*last row/)
    expect(shell.modes()).toEqual(during)
    shell.resize(80, 24)
    await shell.waitFor(/^ready 80x23[\s\S]*last row/)
  }
  shell.press('q')
  await shell.waitFor('end {')
  expectBalanced(shell.bytes().toString())
})

test('experience 7.2 stopped by force, it takes the terminal again when it goes on', async () => {
  const shell = await openShell(program)
  shell.type('$P\r')
  const pid = await programPid(shell)
  await shell.idle(200)
  process.kill(pid, 'SIGSTOP')
  await shell.waitFor(/Stopped[\s\S]*\$ *$/)
  shell.type('fg\r')
  await shell.waitFor(/^ready [\s\S]*last row/)
  shell.press('a')
  await shell.waitFor('seen a')
  expect(shell.modes()).toMatchObject({ isAlternate: true, isCursorHidden: true, bracketedPasteMode: true })
})

test('experience 6.1 another program gets the terminal as it was, and it is drawn anew afterwards', async () => {
  const shell = await openShell(program)
  const before = shell.modes()
  shell.type('$P\r')
  const pid = await programPid(shell)
  const during = shell.modes()
  shell.press('e')
  await shell.waitFor('editor here')
  expect(shell.modes()).toEqual({ ...before, bracketedPasteMode: false })
  expectShellLines(shell)
  process.kill(pid, 'SIGINT')
  shell.type('typed there\r')
  await shell.waitFor(/^ready [\s\S]*last row/)
  expect(shell.modes()).toEqual(during)
  shell.press('q')
  await shell.waitFor('end {"kind":"left"')
  expect(shell.scrollback()).toContain('got typed there')
})
