import { expect, test } from 'vitest'
import { testRoot } from '../../support/live/test-root.ts'
import { openHeadwater } from '../../support/tui/headwater-terminal.ts'
import { waitFor } from '../../support/wait-for.ts'

test('experience 7.3 linear on a real terminal: no sequence is written, and leaving by Ctrl+C twice stops nothing', async () => {
  const root = testRoot()
  await root.start()
  const terminal = openHeadwater(root, { columns: 80, rows: 24, args: ['--screen-reader'] })
  await terminal.waitFor('No sessions yet.')
  terminal.type('/new\r')
  await terminal.waitFor('New session.')
  terminal.type('//hold\r')
  await terminal.waitFor('Message: /hold')
  await terminal.idle(300)
  const before = terminal.bytes().length
  await terminal.idle(500)
  expect(terminal.bytes().length).toBe(before)
  terminal.press('ctrl+c')
  await terminal.waitFor('Control C again leaves; what runs keeps running.')
  terminal.press('ctrl+c')
  expect(await terminal.exited).toEqual({ code: 0, signal: 0 })
  expect(terminal.bytes().includes(0x1b)).toBe(false)
  expect(terminal.scrollback()).toContain('the turn keeps running')
  const connection = await root.connect()
  const { sessions } = await connection.request('session.list', { limit: 10 })
  expect(sessions.map(({ status }) => status)).toEqual(['running'])
})

test('experience 7.3 linear on a real terminal: a signal ends it with its number, and the end of its input as leaving does', async () => {
  const root = testRoot()
  await root.start()
  const killed = openHeadwater(root, { args: ['--screen-reader'] })
  await killed.waitFor('No sessions yet.')
  killed.kill('SIGTERM')
  expect((await killed.exited).code).toBe(143)
  const ended = openHeadwater(root, { args: [], env: { HEADWATER_SCREEN_READER: '1' } })
  await ended.waitFor('No sessions yet.')
  ended.press('ctrl+d')
  expect((await ended.exited).code).toBe(0)
  await waitFor(() => ended.scrollback().includes('To come back: headwater'))
})
