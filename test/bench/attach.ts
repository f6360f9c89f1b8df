import { randomUUID } from 'node:crypto'
import { resolveRoot, startLeader, tryAcquireRootOwner } from '../../leader/index.ts'
import type { LeaderConnection } from '../../replica/index.ts'
import { isolatedEnvironment, useEnvironment } from '../support/environment.ts'
import { waitFor } from '../support/wait-for.ts'
import { type Bench, type BenchContext, inDirectory } from './bench.ts'
import { followDocument } from './parts/document-sockets.ts'
import { connectTo, rootIn, startProduct } from './parts/product.ts'
import { percentile } from './report.ts'

const ENTRIES = [100, 10_000, 100_000] as const
const ENTRY_CHARS = 300
const OUTSTANDING = 256
const OPENINGS = 30

/** Attaching to a session with 100, 10 000 and 100 000 transcript entries: time until the snapshot is there, and bytes of the first sync. */
export const attach: Bench = {
  name: 'attach',
  run: context =>
    inDirectory(async directory => {
      const lengths = ENTRIES.map(entries => Math.max(100, Math.round(entries * context.scale)))
      const sessions = await fillRoot(directory, lengths)
      const leader = await startProduct(directory)
      const { socketPath } = leader.process.line
      const shortest = nameOf(lengths[0] ?? 0)
      for (const [i, sessionId] of sessions.entries()) {
        const name = nameOf(lengths[i] ?? 0)
        const against = name === shortest ? undefined : shortest
        await measureOpening(context, leader.connect, { sessionId, name, against })
        const { socket, syncBytes } = await followDocument(socketPath, sessionId)
        socket.terminate()
        const ofBytes = against === undefined ? {} : { against: `${against}, bytes` }
        context.report.add({ what: `${name}, bytes`, value: syncBytes, unit: 'bytes', ...ofBytes })
      }
      await leader.close()
    }),
}

const nameOf = (entries: number): string => `attach to ${entries.toLocaleString('en')} entries`

async function measureOpening(
  { report }: BenchContext,
  connect: () => Promise<LeaderConnection>,
  { sessionId, name, against }: { sessionId: string; name: string; against: string | undefined },
): Promise<void> {
  const connection = await connect()
  const waits: number[] = []
  for (let opening = 0; opening < OPENINGS; opening++) {
    const from = performance.now()
    const subscription = await connection.openSessionSubscription({ sessionId })
    waits.push(performance.now() - from)
    await subscription.close()
  }
  await connection.close()
  const of = (share: string): object => (against === undefined ? {} : { against: `${against}, ${share}` })
  report.add({ what: `${name}, first`, value: waits[0] ?? 0, unit: 'ms', ...of('first') })
  report.add({ what: `${name}, p50`, value: percentile(waits, 0.5), unit: 'ms', ...of('p50') })
  report.add({ what: `${name}, p99`, value: percentile(waits, 0.99), unit: 'ms', ...of('p99') })
}

/** Sessions with this many entries each, written by a leader whose backend leaves that many notices. */
export async function fillRoot(directory: string, lengths: readonly number[]): Promise<readonly string[]> {
  const restore = useEnvironment(isolatedEnvironment(directory))
  const owner = await tryAcquireRootOwner(await resolveRoot({ path: rootIn(directory) }))
  if (owner === undefined) throw new Error('a new root is owned')
  const filler = {
    kind: 'filler',
    start: async (run: { input: { text: string }; notice(text: string): Promise<void> }): Promise<void> => {
      const count = Number(run.input.text)
      for (let written = 0; written < count; written += OUTSTANDING) {
        const size = Math.min(OUTSTANDING, count - written)
        const notice = (_: unknown, i: number): Promise<void> =>
          run.notice(`${written + i} `.padEnd(ENTRY_CHARS, 'entry '))
        await Promise.all(Array.from({ length: size }, notice))
      }
    },
  }
  const leader = await startLeader({ owner, backends: [filler], port: 0 })
  const connection = await connectTo(rootIn(directory))
  const sessions: string[] = []
  for (const length of lengths) {
    const ids = { sessionId: randomUUID(), turnId: randomUUID() }
    await connection.createSession({ sessionId: ids.sessionId, cwd: '/', backend: 'filler' })
    // the user's message is an entry too
    await connection.startTurn({ ...ids, content: { text: String(length - 1) } })
    const isOver = async (): Promise<boolean> => (await connection.queryTurn(ids)).status === 'completed'
    await waitFor(isOver, { what: `${length} entries`, deadlineMs: 600_000, everyMs: 100 })
    sessions.push(ids.sessionId)
  }
  await connection.close()
  await leader.close()
  restore()
  return sessions
}
