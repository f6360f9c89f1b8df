import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { openStore, resolveRoot, tryAcquireRootOwner } from '../../leader/index.ts'
import { type Bench, type BenchContext, inDirectory, residentBytes } from './bench.ts'
import { followDocument } from './parts/document-sockets.ts'
import { rootIn, startProduct } from './parts/product.ts'
import { closeSockets, openSockets } from './parts/sockets.ts'
import { percentile } from './report.ts'

const SESSIONS = 10_000
const ATTACHED = 1_000
const STARTS = 5
const FLOOR_NODE = 'floor: start and end node, p50'

/** From nothing to ready with 10 000 sessions, and memory: after the start, and with 1 000 sessions attached and idle. */
export const startUp: Bench = {
  name: 'start-up',
  async run(context) {
    const { report, scale } = context
    report.add({ what: FLOOR_NODE, value: percentile(times(STARTS, startNode), 0.5), unit: 'ms' })
    await inDirectory(async directory => {
      await measureStarts(context, directory, 'an empty root')
      const sessions = await plantSessions(directory, Math.max(100, Math.round(SESSIONS * scale)))
      await measureStarts(context, directory, `${sessions.length.toLocaleString('en')} sessions`)
      await measureMemory(context, directory, sessions.slice(0, Math.max(50, Math.round(ATTACHED * scale))))
    })
  },
}

function times<T>(count: number, action: () => T): readonly T[] {
  return Array.from({ length: count }, action)
}

function startNode(): number {
  const from = performance.now()
  execFileSync(process.execPath, ['-e', '0'])
  return performance.now() - from
}

async function plantSessions(directory: string, count: number): Promise<readonly string[]> {
  const owner = await tryAcquireRootOwner(await resolveRoot({ path: rootIn(directory) }))
  if (owner === undefined) throw new Error('the root is owned')
  const store = await openStore(owner)
  const ids = times(count, () => randomUUID())
  for (const sessionId of ids) await store.createSession({ sessionId, title: 'planted', cwd: '/', backend: 'scripted' })
  await store.close()
  await owner.close()
  return ids
}

async function measureStarts({ report }: BenchContext, directory: string, name: string): Promise<void> {
  const waits: number[] = []
  for (let start = 0; start < STARTS; start++) {
    const from = performance.now()
    const leader = await startProduct(directory)
    waits.push(performance.now() - from)
    await leader.close()
  }
  report.add({ what: `start → ready, ${name}, p50`, value: percentile(waits, 0.5), unit: 'ms', against: FLOOR_NODE })
}

async function measureMemory({ report }: BenchContext, directory: string, sessions: readonly string[]): Promise<void> {
  const leader = await startProduct(directory)
  const { pid, line } = leader.process
  const atStart = 'memory after the start'
  report.add({ what: atStart, value: residentBytes(pid), unit: 'bytes' })
  let next = 0
  const open = async () => (await followDocument(line.socketPath, sessions[next++] as string)).socket
  const sockets = await openSockets(sessions.length, open)
  const attached = `memory with ${sessions.length.toLocaleString('en')} idle sessions attached`
  report.add({ what: attached, value: residentBytes(pid), unit: 'bytes', against: atStart })
  await closeSockets(sockets)
  await leader.close()
}
