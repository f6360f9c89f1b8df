import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeTempDir, testTempDir } from '../../support/temp-dir.ts'
import { bundleProgram } from '../../support/tui/bundle-program.ts'
import { openTerminal, type TestTerminal } from '../../support/tui/terminal.ts'
import { waitFor } from '../../support/wait-for.ts'

const directory = makeTempDir('composer')
let program = ''
beforeAll(async () => {
  program = await bundleProgram('test/support/tui/composer-program.tsx', directory)
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

async function open(folder: string, env: Record<string, string> = {}, client = 'a'): Promise<TestTerminal> {
  const terminal = openTerminal({
    argv: [process.execPath, program, folder, client],
    env: { ...process.env, LANG: 'C.UTF-8', ...env },
  })
  await terminal.waitFor(/^> \S/m)
  return terminal
}
const savedIn = (folder: string): string =>
  readdirSync(join(folder, 'drafts'))
    .map(name => readFileSync(join(folder, 'drafts', name), 'utf8'))
    .join()
const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16)

test('experience 6.1 in a terminal: 2 000 pasted lines are one thing, and arrive whole', async () => {
  const terminal = await open(testTempDir('pty'))
  const lines = Array.from({ length: 2_000 }, (_, line) => `${line}: äöü 日本語 ${'x'.repeat(30)}`).join('\n')
  terminal.type('look: ')
  terminal.paste(lines)
  await terminal.waitFor('> look: [pasted 2,000 lines]')
  terminal.type(' ok')
  await terminal.waitFor('lines] ok')
  expect(terminal.styleOf('[pasted 2,000 lines]').colour).toBe(6)
  terminal.press('enter')
  const text = `look: ${lines} ok`
  await terminal.waitFor(`send ${text.length} ${digest(text)}`)
  await terminal.waitFor('> Write to the agent')
})

test('experience 7.2 in a terminal: keys of a shell, new lines, undo, and wide characters under the cursor', async () => {
  const terminal = await open(testTempDir('pty'))
  terminal.type('one two')
  terminal.press('shift+enter')
  terminal.type('日本 👩‍👧 e\u0301')
  terminal.press('ctrl+j')
  terminal.type('last\\')
  terminal.press('enter')
  await terminal.waitFor(/^> one two\n {2}日本 👩‍👧 e\u0301\n {2}last$/m)
  terminal.press('up', 'up', 'ctrl+a')
  await terminal.idle(50)
  expect(terminal.styleOf('日').isInverse).toBe(true)
  terminal.press('alt+f', 'ctrl+k')
  await terminal.waitFor(/^> one two\n {2}日本 ?\n {2}last$/m)
  terminal.press('ctrl+_')
  await terminal.waitFor(/^ {2}日本 👩‍👧 e\u0301$/m)
  terminal.press('up', 'ctrl+e')
  terminal.type('\u001b\u007f')
  await terminal.waitFor(/^> one *$/m)
  terminal.press('down', 'down', 'ctrl+c')
  await terminal.waitFor('Ctrl+C again leaves')
  terminal.press('ctrl+c')
  expect(await terminal.exited).toEqual({ code: 0, signal: 0 })
})

test('experience 6.1 in a terminal: the editor has the terminal, and the draft comes back from it', async () => {
  const folder = testTempDir('pty')
  const script = join(folder, 'editor.sh')
  writeFileSync(script, '#!/bin/sh\nprintf "editing: "; read -r line; printf "%s" "$line" >> "$1"\n', { mode: 0o700 })
  const terminal = await open(folder, { EDITOR: script })
  terminal.type('draft ')
  await terminal.waitFor('> draft')
  terminal.press('ctrl+g')
  await terminal.waitFor('editing:')
  terminal.type('and more\r')
  await terminal.waitFor('> draft and more')
  terminal.type('!')
  await terminal.waitFor('> draft and more!')
  expect(terminal.screen()).not.toContain('editing:')
})

test('experience 5.3 in a terminal: a draft is there again after the program was killed', async () => {
  const folder = testTempDir('pty')
  const first = await open(folder)
  first.type('half a sentence')
  await first.waitFor('> half a sentence')
  await waitFor(() => savedIn(folder).includes('half a sentence'))
  first.kill('SIGKILL')
  await first.exited
  const second = await open(folder, {}, 'b')
  await second.waitFor('> half a sentence')
  await second.waitFor(/your draft as of \d\d:\d\d/)
  await waitFor(() => readdirSync(join(folder, 'drafts')).length === 1)
  expect(savedIn(folder)).toContain('half a sentence')
})
