import { expect, test } from 'vitest'
import { BIN } from '../support/leader-process.ts'
import { testRoot } from '../support/live/test-root.ts'
import { openHeadwater } from '../support/tui/headwater-terminal.ts'
import { expectBalanced, expectShellLines, openShell } from '../support/tui/manners-shell.ts'

test('experience 7.3 14 the product draws where CI is set, keeps the shell, and says how a signal ended it', async () => {
  const root = testRoot()
  await root.start()
  const shell = await openShell(`${BIN} --root ${root.path} tui`, { env: { CI: 'true' } })
  const before = shell.modes()
  shell.type('$P & echo pid $!; fg >/dev/null; echo code $?\r')
  await shell.waitFor('● live')
  expect(shell.modes()).toMatchObject({ isAlternate: true, isCursorHidden: true, bracketedPasteMode: true })
  const pid = Number(/pid (\d+)/.exec(shell.scrollback())?.[1])
  process.kill(pid, 'SIGTERM')
  await shell.waitFor(/code 143\n\$ *$/)
  expect(shell.modes()).toEqual(before)
  expectShellLines(shell)
  expectBalanced(shell.bytes().toString())
})

test('experience 7.3 16 the product writes nothing while nothing happens', async () => {
  const root = testRoot()
  await root.start()
  const terminal = openHeadwater(root)
  await terminal.waitFor('● live')
  await terminal.idle(500)
  const { length } = terminal.bytes()
  await terminal.idle(2_000)
  expect(terminal.bytes().length).toBe(length)
})

test('experience 7.2 keys that arrive at once mean what they mean one by one', async () => {
  const root = testRoot()
  await root.start()
  const terminal = openHeadwater(root)
  await terminal.waitFor('No sessions yet')
  terminal.type('nwritten in one go')
  await terminal.waitFor('written in one go')
  terminal.type('\u007f\u007f\u007f by\u0001>')
  await terminal.waitFor('>written in one by')
  expect(terminal.screen()).not.toContain('go')
})
