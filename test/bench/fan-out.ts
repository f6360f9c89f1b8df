import type { WebSocket } from 'ws'
import { type Bench, type BenchContext, inDirectory } from './bench.ts'
import { followDocument, isChange } from './parts/document-sockets.ts'
import { createSessions, startProduct } from './parts/product.ts'
import { allReceive, closeSockets, openSocket, openSockets, startFloorServer } from './parts/sockets.ts'
import { percentile } from './report.ts'

const REPLICAS = [1, 100, 1_000] as const
const ROUNDS = 40
const UPDATE_BYTES = 200

/** One update to 1, 100 and 1 000 replicas, from the command until the last one has it; and the same on a bare server. */
export const fanOut: Bench = {
  name: 'fan-out',
  async run(context) {
    await inDirectory(directory => measureFloor(context, directory))
    await inDirectory(directory => measureProduct(context, directory))
  },
}

const floorName = (count: number): string => `floor: ${UPDATE_BYTES} B to ${count} bare sockets, p50`

async function measureFloor({ report, scale }: BenchContext, directory: string): Promise<void> {
  const server = await startFloorServer(directory)
  const sender = await openSocket(server.url)
  for (const count of REPLICAS) {
    const sockets = await openSockets(count, () => openSocket(server.url))
    const waits = await rounds(
      scale,
      sockets,
      () => true,
      async () => sender.send(`fan ${UPDATE_BYTES}`),
    )
    report.add({ what: floorName(count), value: percentile(waits, 0.5), unit: 'ms' })
    await closeSockets(sockets)
  }
  sender.terminate()
  await server.close()
}

async function measureProduct({ report, scale }: BenchContext, directory: string): Promise<void> {
  const leader = await startProduct(directory)
  const connection = await leader.connect()
  const { socketPath } = leader.process.line
  for (const count of REPLICAS) {
    const [sessionId = ''] = await createSessions(connection, 1)
    const sockets = await openSockets(count, async () => (await followDocument(socketPath, sessionId)).socket)
    let revision = 1
    const waits = await rounds(scale, sockets, isChange, async () => {
      const patch = { title: `round ${revision}` }
      const result = await connection.request('session.update', { sessionId, expectedRevision: revision, patch })
      if (result.kind !== 'committed') throw new Error(`not committed: ${JSON.stringify(result)}`)
      revision = result.session.revision
    })
    const what = `one update to ${count} replica${count === 1 ? '' : 's'}`
    report.add({ what: `${what}, p50`, value: percentile(waits, 0.5), unit: 'ms', against: floorName(count) })
    report.add({ what: `${what}, p99`, value: percentile(waits, 0.99), unit: 'ms' })
    await closeSockets(sockets)
  }
  await connection.close()
  await leader.close()
}

async function rounds(
  scale: number,
  sockets: readonly WebSocket[],
  counts: (message: Buffer) => boolean,
  cause: () => Promise<void>,
): Promise<readonly number[]> {
  const waits: number[] = []
  for (let round = 0; round < Math.max(5, ROUNDS * scale); round++) {
    const received = allReceive(sockets, counts)
    const from = performance.now()
    await Promise.all([cause(), received])
    waits.push(performance.now() - from)
  }
  return waits
}
