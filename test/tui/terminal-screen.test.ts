import { createElement } from 'react'
import { expect, test, vi } from 'vitest'
import { ScreenStream } from '../../replica/tui/terminal/screen-stream.ts'
import { paintLine } from '../../replica/tui/text/paint.ts'
import { TERMINAL_THEME } from '../../replica/tui/text/theme.ts'

// Ink looks at it when it is loaded; the product's bundle has that look taken out.
vi.stubEnv('CI', 'false')
const { Box, render, Text } = await import('ink')

const ERASE = '\u001b[2K\u001b[1A\u001b[2K\u001b[G'

/** A screen, and what was taken of it since the last look, without the frame's beginning and end. */
function openScreen(size = { columns: 20, rows: 4 }): { screen: ScreenStream; taken: () => string } {
  const frames: string[] = []
  const screen = new ScreenStream(size, () => frames.push(screen.takeFrame()))
  const taken = () => {
    const all = frames.splice(0).join('')
    return all.replaceAll('\u001b[?2026h\u001b[m', '<').replaceAll('\u001b[?2026l', '>')
  }
  return { screen, taken }
}

/** Rows that are written, as `row:text`. */
function rowsOf(taken: string): readonly string[] {
  return [...taken.matchAll(/\u001b\[(\d+);1H\u001b\[K([\s\S]*?)(?=\u001b\[\d+;1H|>)/g)].map(
    ([, row, text]) => `${row}:${text}`,
  )
}

test('experience 7.3 only rows that changed are written, as one frame', async () => {
  const { screen, taken } = openScreen()
  screen.write('one\ntwo\nthree\n')
  expect(taken()).toBe('<\u001b[2J\u001b[1;1H\u001b[Kone\u001b[2;1H\u001b[Ktwo\u001b[3;1H\u001b[Kthree>')
  screen.write(`${ERASE}one\n2\nthree\n`)
  await vi.waitFor(() => expect(rowsOf(taken())).toEqual(['2:2']))
  screen.write(`${ERASE}one\n2\nthree\n`)
  screen.write(ERASE)
  screen.write('')
  expect(taken()).toBe('')
  screen.write(`${ERASE}one\n`)
  await vi.waitFor(() => expect(rowsOf(taken())).toEqual(['2:', '3:']))
})

test('experience 7.3 what clears the screen or the scrollback, moves, or rings is not written', () => {
  const { screen, taken } = openScreen()
  screen.write(
    '\u001b[2J\u001b[3J\u001b[Ha\u001b[3Jb\u0007c\u001b[5;5Hd\u009b3Je\u001b]0;t\u0007\n\u001b[31mred\u001b[39m\n',
  )
  expect(rowsOf(taken())).toEqual(['1:a[3Jbc[5;5Hd3Je]0;t', '2:\u001b[31mred\u001b[39m'])
})

test('experience 7.3 rows beyond the terminal are not written, and a new size has everything written', async () => {
  const { screen, taken } = openScreen()
  screen.write('1\n2\n3\n4\n5\n6\n')
  expect(rowsOf(taken())).toEqual(['1:1', '2:2', '3:3', '4:4'])
  screen.resize({ columns: 30, rows: 2 })
  expect(taken()).toBe('')
  screen.write(`${ERASE}x\ny\nz\n`)
  expect(rowsOf(taken())).toEqual(['1:x', '2:y'])
  screen.resize({ columns: 30, rows: 3 })
  await vi.waitFor(() => expect(rowsOf(taken())).toEqual(['1:x', '2:y', '3:z']))
  screen.forget()
  expect(rowsOf(taken())).toEqual(['1:x', '2:y', '3:z'])
})

test('experience 14 Ink writes frames that are understood, and keeps what was painted', async () => {
  const { screen, taken } = openScreen({ columns: 24, rows: 10 })
  const paint = { theme: TERMINAL_THEME, depth: '16', hasLinks: true } as const
  const texts = ['plain', '中文字', '👨‍👩‍👧 fam', '⚠️ warn', 'e\u0301a', 'नमस्ते']
  const page = (mark: string) => {
    const rows = texts.map(text =>
      paintLine(
        [
          { text, tone: 'user', href: 'http://x/' },
          { text: `|${mark}`, inverse: true },
        ],
        24,
        paint,
      ),
    )
    const lines = createElement(Text, { wrap: 'truncate' }, rows.join('\n'))
    return createElement(Box, { flexDirection: 'column', width: 24, height: rows.length }, lines)
  }
  const stdout = screen as unknown as NodeJS.WriteStream
  const ink = render(page('one'), { stdout, stderr: stdout, patchConsole: false })
  const painted = (text: string, mark: string) =>
    `\u001b]8;;http://x/\u0007\u001b[1m\u001b[34m${text}\u001b[39m\u001b[22m\u001b]8;;\u0007\u001b[7m|${mark}\u001b[27m\u001b]8;;\u0007`
  for (const mark of ['one', 'two']) {
    ink.rerender(page(mark))
    await vi.waitFor(() =>
      expect(rowsOf(taken())).toEqual(texts.map((text, row) => `${row + 1}:${painted(text, mark)}`)),
    )
  }
  ink.unmount()
})
