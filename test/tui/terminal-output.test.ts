import { rmSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeTempDir } from '../support/temporary.ts'
import { bundleProgram } from '../support/tui/bundle-program.ts'
import { openTerminal, type TerminalOptions, type TestTerminal } from '../support/tui/terminal.ts'
import { within } from '../support/wait-for.ts'

const directory = makeTempDir('output')
let program = ''
beforeAll(async () => {
  program = await bundleProgram('test/support/tui/manners-program.tsx', directory)
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

async function open(args: readonly string[] = [], options: Omit<TerminalOptions, 'argv'> = {}): Promise<TestTerminal> {
  const terminal = openTerminal({ ...options, argv: [process.execPath, program, ...args] })
  await terminal.waitFor(/^ready [\s\S]*last row/)
  return terminal
}

test('experience 7.3 nothing is written while nothing changes', async () => {
  const terminal = await open()
  await terminal.idle(300)
  const { length } = terminal.bytes()
  await terminal.idle(1_500)
  expect(terminal.bytes().length).toBe(length)
  terminal.press('a')
  await terminal.waitFor('seen a')
  await terminal.idle(300)
  const frame = terminal.bytes().subarray(length).toString()
  expect(frame).toBe(
    '\u001b[?2026h\u001b[m\u001b[2;1H\u001b[K\u001b[1m\u001b[36mseen\u001b[39m\u001b[22m a\u001b[?2026l',
  )
})

test.each(['true', '1', ''])('experience 14 it draws also where CI is %j', async ci => {
  const terminal = await open([], { env: { ...process.env, CI: ci, CONTINUOUS_INTEGRATION: ci } })
  terminal.press('a')
  await terminal.waitFor('seen a')
  expect(terminal.modes()).toMatchObject({ isAlternate: true })
})

test('experience 7.3 colours are those that were painted, whatever the environment says', async () => {
  for (const env of [{ FORCE_COLOR: '3' }, { NO_COLOR: '1' }, {}]) {
    const terminal = await open([], { env: { ...process.env, ...env } })
    expect(terminal.styleOf('seen')).toMatchObject({ colour: 6, isBold: true })
    expect(terminal.styleOf('ready')).toMatchObject({ colour: -1, isBold: false })
  }
})

test('experience 7.3 at most 30 frames a second are drawn', async () => {
  const terminal = await open(['busy'])
  await terminal.waitFor(() => terminal.bytes().toString().split('\u001b[?2026h').length > 40)
  const frames = terminal.bytes().toString().split('\u001b[?2026h').slice(2, -1)
  const drawnAt = frames.map(tickOf)
  expect(drawnAt.filter(Number.isNaN)).toEqual([])
  const lasted = (drawnAt.at(-1) as number) - (drawnAt[0] as number)
  expect(lasted / (drawnAt.length - 1)).toBeGreaterThan(1_000 / 30 - 2)
})

test('experience 7.3 a terminal that takes nothing gets the newest frame afterwards, not all of them', async () => {
  const terminal = await open(['busy'])
  await terminal.waitFor('tick')
  const resume = terminal.stall()
  await terminal.idle(2_500)
  const before = terminal.bytes().length
  const stalledAt = tickOf(terminal.screen())
  resume()
  await terminal.waitFor(screen => tickOf(screen) > stalledAt + 2_500)
  const frames = terminal.bytes().subarray(before).toString().split('\u001b[?2026h').map(tickOf)
  const skipped = frames.filter(tick => tick > stalledAt + 1_000 && tick < stalledAt + 2_000)
  expect(skipped).toEqual([])
})

/** When what is shown was made, by the program's clock. */
function tickOf(shown: string): number {
  return Number(/tick([\d.]+)/.exec(shown)?.[1])
}

test('experience 7.3 a terminal that takes nothing does not keep the program from ending', async () => {
  const terminal = await open(['busy'])
  const pid = Number(/pid (\d+)/.exec(terminal.screen())?.[1])
  terminal.stall()
  await terminal.idle(1_000)
  process.kill(pid, 'SIGTERM')
  await within(terminal.exited, 8_000, 'the end of the program')
  expect(() => process.kill(pid, 0)).toThrow()
})

test('experience 7.2 keys that arrive together are told one by one, a paste as one thing', async () => {
  const terminal = await open()
  terminal.type('ab\u001b[A\u001b[1;5C\u001bf\t')
  await terminal.waitFor('seen a b up ctrl+right alt+f tab')
  terminal.press('esc')
  await terminal.waitFor('tab esc')
  terminal.paste(Array.from({ length: 2_000 }, (_, line) => `line ${line} of what is pasted`).join('\r\n'))
  await terminal.waitFor('pasted:54889:2000')
  terminal.press('q')
  expect((await terminal.exited).code).toBe(7)
})

test('experience 7.3 focus is told, and the wheel only where a mouse is wanted', async () => {
  const plain = await open()
  expect(plain.modes().mouseTrackingMode).toBe('none')
  plain.focus(false)
  await plain.waitFor(/^ready 80x23 away/)
  plain.focus(true)
  await plain.waitFor(/^ready 80x23 focused/)
  const mouse = await open(['mouse'])
  expect(mouse.modes().mouseTrackingMode).toBe('vt200')
  mouse.type('\u001b[<64;10;10M\u001b[<65;10;10M\u001b[<0;10;10M\u001b[<0;10;10mx')
  await mouse.waitFor('seen wheel:-1 wheel:1 x')
  mouse.press('q')
  await mouse.exited
  expect(mouse.modes().mouseTrackingMode).toBe('none')
})

test('experience 7.2 7.3 title, clipboard and notifications carry text and nothing else', async () => {
  const terminal = await open()
  terminal.press('c', 'b')
  await terminal.waitFor('seen c b')
  const written = terminal.bytes().toString()
  expect(written).toContain('\u001b]0;● manners — headwater\u0007')
  expect(written).toContain(`\u001b]52;c;${Buffer.from('copied text').toString('base64')}\u0007`)
  expect(written).toContain('\u001b]9;look here\u0007\u0007')
})
