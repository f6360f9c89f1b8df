import { setTimeout as pause } from 'node:timers/promises'
import { BIN } from '../support/leader-process.ts'
import { startTerminal, type TestTerminal } from '../support/tui/pty-terminal.ts'
import { fillRoot } from './attach.ts'
import { type Bench, type BenchContext, inDirectory, residentBytes } from './bench.ts'
import { createSessions, startProduct } from './parts/product.ts'
import { percentile } from './report.ts'

const ENTRIES = 10_000
const STARTS = 5
const KEYS = 120
const IDLE_MS = 2_000
const SCROLLED_PAGES = 60
/** Long enough for all keys: the scripted backend sends 9 characters every 45 ms. */
const STREAMED_CHARS = 12_000
const FIRST = 'terminal: spawn → first frame, p50'

/** The terminal replica on a real pty: its first frame, its memory with a long session, keys while a turn streams, and bytes when nothing happens. */
export const terminal: Bench = {
  name: 'terminal',
  async run(context) {
    await inDirectory(async directory => {
      const entries = Math.max(500, Math.round(ENTRIES * context.scale))
      const [long] = await fillRoot(directory, [entries])
      const leader = await startProduct(directory)
      await measureStarts(context, leader.root)
      await measureLong(context, { root: leader.root, sessionId: long as string, entries })
      const connection = await leader.connect()
      const [streaming] = await createSessions(connection, 1)
      const turn = { sessionId: streaming as string, turnId: crypto.randomUUID() }
      await measureKeys(context, { root: leader.root, sessionId: turn.sessionId }, () =>
        connection.startTurn({ ...turn, content: { text: 'word '.repeat(STREAMED_CHARS / 5) } }),
      )
      await connection.close()
      await leader.close()
    })
  },
}

function open(root: string, sessionId?: string): TestTerminal {
  const args = sessionId === undefined ? [] : ['-s', sessionId]
  return startTerminal({ argv: [process.execPath, BIN, '--root', root, 'tui', ...args], env: process.env })
}

async function measureStarts({ report }: BenchContext, root: string): Promise<void> {
  const first: number[] = []
  const live: number[] = []
  for (let start = 0; start < STARTS; start++) {
    const from = performance.now()
    const window = open(root)
    await window.waitFor('headwater')
    first.push(performance.now() - from)
    await window.waitFor('● live')
    live.push(performance.now() - from)
    await window.dispose()
  }
  report.add({ what: FIRST, value: percentile(first, 0.5), unit: 'ms' })
  report.add({ what: 'terminal: spawn → live, p50', value: percentile(live, 0.5), unit: 'ms', against: FIRST })
}

async function measureLong(
  { report }: BenchContext,
  { root, sessionId, entries }: { readonly root: string; readonly sessionId: string; readonly entries: number },
): Promise<void> {
  const window = open(root, sessionId)
  const name = `terminal: ${entries.toLocaleString('en')} entries`
  await window.waitFor(new RegExp(`${entries - 2} entry[\\s\\S]*completed`))
  report.add({ what: `${name}, memory`, value: residentBytes(window.pid), unit: 'bytes' })
  await window.idle(500)
  const before = window.bytes().length
  await pause(IDLE_MS)
  report.add({
    what: `${name}, bytes in ${IDLE_MS / 1_000} s of nothing`,
    value: window.bytes().length - before,
    unit: 'bytes',
  })
  window.press('tab')
  for (let page = 0; page < SCROLLED_PAGES; page++) {
    window.press('pgup')
    await window.idle(30)
  }
  window.press('g')
  await window.idle(1_000)
  report.add({ what: `${name}, memory after scrolling up`, value: residentBytes(window.pid), unit: 'bytes' })
  await window.dispose()
}

async function measureKeys(
  { report }: BenchContext,
  { root, sessionId }: { readonly root: string; readonly sessionId: string },
  start: () => Promise<unknown>,
): Promise<void> {
  const window = open(root, sessionId)
  await window.waitFor('● live')
  await start()
  await window.waitFor('word word')
  const waits: number[] = []
  for (let key = 0; key < KEYS; key++) {
    const letter = String.fromCharCode('A'.charCodeAt(0) + (key % 26))
    const from = performance.now()
    window.type(letter)
    await window.seen(`> ${letter}`)
    waits.push(performance.now() - from)
    window.press('backspace')
    await window.seen('> Write')
    await pause(key % 37)
  }
  report.add({ what: 'terminal: key → frame while streaming, p50', value: percentile(waits, 0.5), unit: 'ms' })
  report.add({ what: 'terminal: key → frame while streaming, p95', value: percentile(waits, 0.95), unit: 'ms' })
  await window.dispose()
}
