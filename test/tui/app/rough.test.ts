import { expect, test } from 'vitest'
import { testRoot } from '../../support/live/test-root.ts'
import { openHeadwater } from '../../support/tui/headwater-terminal.ts'

const ESC = '\u001b'
/** Each would leave a mark that can be found: in the bytes, the title, the clipboard, or as an answer of the terminal. */
const HOSTILE = [
  `${ESC}]0;EVIL${ESC}\\`,
  `${ESC}]52;c;RVZJTA==\u0007`,
  `${ESC}[6n${ESC}[>0c`,
  `${ESC}[3J${ESC}[2J${ESC}[1;1HEVIL`,
  `${ESC}[?1000h${ESC}[?1049l`,
  `${ESC}P$q"p${ESC}\\`,
  `${ESC}Ptmux;${ESC}${ESC}]52;c;RVZJTA==\u0007${ESC}\\`,
  `\u009b31m\u009d0;EVIL\u009c\u0090EVIL\u009c`,
  '\u202eEVIL\u2066\u2069',
  `${ESC}c${ESC}(0\u000e`,
  `${ESC}]8;;http://evil.example/${ESC}\\link${ESC}]8;;${ESC}\\`,
].join(' x ')

async function withSession(title = 'Rough') {
  const root = testRoot()
  await root.start()
  const connection = await root.connect()
  const sessionId = crypto.randomUUID()
  await connection.createSession({ sessionId, cwd: '/', backend: 'scripted', title })
  const say = (text: string) => connection.startTurn({ sessionId, turnId: crypto.randomUUID(), content: { text } })
  return { root, connection, sessionId, say }
}

test('Z6 experience 7.3 whatever is in titles and messages, nothing of it drives the terminal', async () => {
  const { root, sessionId, say } = await withSession(`${HOSTILE.slice(0, 180)} title end`)
  await say(`${HOSTILE} message end`)
  const terminal = openHeadwater(root, { args: ['-s', sessionId], columns: 100, rows: 40 })
  await terminal.waitFor('completed')
  terminal.paste(HOSTILE)
  await terminal.idle(300)
  terminal.press('ctrl+o')
  await terminal.waitFor('esc back')
  terminal.press('esc')
  await terminal.idle(300)
  terminal.press('ctrl+p')
  await terminal.idle(300)
  const written = terminal.bytes().toString('utf8')
  expect(written).not.toMatch(
    /\u001b\]52|\u001b\[6n|\u001b\[3J|\u001b\[>0c|\u001bP|\u001bc|\u001b\(0|\u000e|[\u0080-\u009f\u202a-\u202e\u2066-\u2069]/,
  )
  expect(written).not.toMatch(/\u001b\]8;[^\u0007]*evil[^\u0007]*\u0007link/)
  expect(terminal.modes()).toMatchObject({ isAlternate: true, mouseTrackingMode: 'none' })
  expect(terminal.modes().title).not.toBe('EVIL')
})

test('experience 7.3 a terminal that is resized again and again while text streams shows the end, and each frame fits', async () => {
  const { root, sessionId, say } = await withSession()
  const terminal = openHeadwater(root, { args: ['-s', sessionId], columns: 100, rows: 30 })
  await terminal.waitFor('● live')
  await say(Array.from({ length: 40 }, (_, index) => `line ${index} of what is streamed`).join('\n'))
  for (let round = 0; round < 40; round++) {
    terminal.resize(42 + ((round * 37) % 90), 11 + ((round * 13) % 30))
    await terminal.idle(5, 2_000).catch(() => {})
  }
  terminal.resize(80, 24)
  await terminal.waitFor(/line 39 of what is streamed[\s\S]*completed/, 20_000)
  expect(terminal.screen().split('\n').length).toBeLessThanOrEqual(24)
  expect(terminal.bytes().toString()).not.toContain('\u001b[3J')
})

test('experience 6.1 2 000 pasted lines are one thing in the composer, and arrive as they were', async () => {
  const { root, sessionId, connection } = await withSession()
  const terminal = openHeadwater(root, { args: ['-s', sessionId] })
  await terminal.waitFor('● live')
  const pasted = Array.from({ length: 2_000 }, (_, index) => `pasted ${index}`).join('\n')
  terminal.type('see: ')
  terminal.paste(pasted)
  await terminal.waitFor(/pasted 2[, ]?000 lines/)
  terminal.press('enter')
  await terminal.waitFor(/running|completed/)
  const page = await connection.transcript(sessionId, { limit: 5 })
  const [first] = page.entries.filter(entry => entry.kind === 'user')
  expect(first).toMatchObject({ content: { text: `see: ${pasted}` } })
})

test('experience 7.3 wide characters stand where they should, and NO_COLOR is heeded', async () => {
  const { root, sessionId, say } = await withSession('日本語 👩‍👩‍👧 title')
  await say('界界界 e\u0301 👍🏽 end')
  const terminal = openHeadwater(root, { args: ['-s', sessionId], env: { NO_COLOR: '1' } })
  await terminal.waitFor(/界界界[\s\S]*completed/)
  for (const row of terminal.screen().split('\n')) {
    if (row.includes('● live')) expect(row.trimEnd()).toMatch(/● live$/)
  }
  expect(terminal.screen()).toMatch(/^ headwater · 日本語/)
  expect(terminal.bytes().toString()).not.toMatch(/\u001b\[(?:[0-9;]*;)?(?:3[0-7]|9[0-7]|4[0-7])[;m]/)
})
