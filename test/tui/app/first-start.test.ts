import { expect, test } from 'vitest'
import { testRoot } from '../../support/live/test-root.ts'
import { openHeadwater } from '../../support/tui/headwater-terminal.ts'

test('experience 7.1 first start: an empty root explains itself, a new session begins with the first message', async () => {
  const root = testRoot()
  const terminal = openHeadwater(root, { columns: 80, rows: 24 })
  await terminal.waitFor('No sessions yet')
  await terminal.waitFor('live')
  if (process.env.SHOW) console.log(terminal.screen())
  terminal.press('n')
  await terminal.waitFor('A new session')
  terminal.type('Hello there')
  await terminal.waitFor('Hello there')
  if (process.env.SHOW) console.log(terminal.screen())
  terminal.press('enter')
  await terminal.waitFor('completed')
  if (process.env.SHOW) console.log(terminal.screen())
  terminal.press('?')
  await terminal.waitFor('Keys that work now')
  if (process.env.SHOW) console.log(terminal.screen())
  terminal.press('esc')
  await terminal.waitFor(screen => !screen.includes('Keys that work now'))
  terminal.press('ctrl+p')
  await terminal.idle(300)
  if (process.env.SHOW) console.log(terminal.screen())
  terminal.press('esc')
  await terminal.waitFor('Write to the agent')
  terminal.press('ctrl+d')
  const exit = await terminal.exited
  expect(exit).toEqual({ code: 0, signal: 0 })
  if (process.env.SHOW) console.log(terminal.scrollback())
  expect(terminal.scrollback()).toContain('To come back: headwater --root')
})
