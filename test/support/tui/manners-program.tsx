import { spawn } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { Box, Text } from 'ink'
import { useEffect, useState } from 'react'
import { type HostView, runInk } from '../../../replica/tui/terminal/host.tsx'
import { chordOf } from '../../../replica/view/keymap/key.ts'

/** A program that shows what a terminal tells it, and that a test can make behave in any way: one letter, one deed. */
const seen: string[] = []
let notice: () => void = () => {}
let view: HostView<number> | undefined

function Page({ size, isFocused, terminal }: HostView<number>) {
  const [, setCount] = useState(0)
  useEffect(() => {
    notice = () => setCount(count => count + 1)
    terminal.setTitle('● manners — \u001b]0;evil\u0007headwater')
  }, [terminal])
  if (seen.at(-1) === 'K') throw new Error('a component threw')
  const isBusy = process.argv[2] === 'busy'
  const rows = Array.from(
    { length: Math.max(0, size.rows - 3) },
    (_, row) => `row ${row + 1} ${isBusy ? seen.at(-1) : ''}`,
  )
  const lines = [
    `ready ${size.columns}x${size.rows} ${isFocused ? 'focused' : 'away'} pid ${process.pid}`,
    `\u001b[1;36mseen\u001b[0m ${seen.slice(-8).join(' ')} \u001b[3J`,
    ...rows,
    'last row'.padEnd(size.columns, '.'),
  ]
  return (
    <Box flexDirection="column" width={size.columns} height={size.rows}>
      <Text wrap="truncate">{lines.join('\n')}</Text>
    </Box>
  )
}

const DEEDS: Readonly<Record<string, () => unknown>> = {
  q: () => view?.leave(7),
  z: () => view?.terminal.suspend(),
  c: () => view?.terminal.copy('copied text'),
  b: () => view?.terminal.notify('look \u001b[31mhere'),
  r: () => view?.terminal.redraw(),
  X: () => {
    throw new Error('nobody catches this')
  },
  E: () => process.exit(3),
  e: () =>
    view?.terminal.lend(async () => {
      const child = spawn('sh', ['-c', 'echo editor here; read line; echo "got $line"'], { stdio: 'inherit' })
      await once(child, 'exit')
    }),
}

/** Keeps drawing without being asked, as a stream of text does. */
if (process.argv[2] === 'busy') {
  setInterval(() => {
    seen.push(`${'tick'.repeat(5)}${performance.now()}`)
    seen.splice(0, seen.length - 1)
    notice()
  }, 5)
}

const end = await runInk<number>({
  stdin: process.stdin,
  stdout: process.stdout,
  setsTitle: true,
  hasMouse: process.argv[2] === 'mouse',
  onInput: event => {
    if (event.kind === 'paste') seen.push(`pasted:${event.text.length}:${event.text.split('\n').length}`)
    else seen.push(event.kind === 'wheel' ? `wheel:${event.delta}` : chordOf(event.press))
    if (event.kind === 'key') DEEDS[event.press.key]?.()
    notice()
  },
  draw: next => {
    view = next
    return <Page {...next} />
  },
})
process.stdout.write(`end ${JSON.stringify(end)}\n`)
process.exit(end.kind === 'left' ? end.value : 99)
