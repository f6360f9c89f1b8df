import type { LeaderConnection, SessionSubscription } from '../../replica/index.ts'
import { startLeaderProcess } from '../support/leader-process.ts'
import { waitFor } from '../support/wait-for.ts'
import { type Bench, type BenchContext, inDirectory } from './bench.ts'
import { createSessions, startProduct } from './parts/product.ts'
import { closeSockets, openSocket, openSockets, startFloorServer } from './parts/sockets.ts'
import { percentile } from './report.ts'

const REPLICAS = 200
const ROUNDS = 5
const FLOOR_START = `floor: start a bare server, ${REPLICAS} sockets`
const EVERY_MS = 2

/** kill -9, start again at once, until 200 replicas are live on the new epoch; and the same number of sockets on a bare server. */
export const restart: Bench = {
  name: 'restart',
  async run(context) {
    await inDirectory(directory => measureFloor(context, directory))
    await inDirectory(directory => measureProduct(context, directory))
  },
}

async function measureFloor({ report }: BenchContext, directory: string): Promise<void> {
  const waits: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const from = performance.now()
    const server = await startFloorServer(directory)
    const sockets = await openSockets(REPLICAS, () => openSocket(server.url))
    waits.push(performance.now() - from)
    await closeSockets(sockets)
    await server.close()
  }
  report.add({ what: FLOOR_START, value: percentile(waits, 0.5), unit: 'ms' })
}

async function measureProduct({ report }: BenchContext, directory: string): Promise<void> {
  const leader = await startProduct(directory)
  const replicas = await openReplicas(leader.connect)
  const ready: number[] = []
  const live: number[] = []
  let running = { ...leader.process, hostEpoch: leader.process.line.hostEpoch }
  for (let round = 0; round < ROUNDS; round++) {
    const from = performance.now()
    await running.kill()
    const next = await startLeaderProcess({ root: leader.root })
    ready.push(performance.now() - from)
    running = { ...next, hostEpoch: next.line.hostEpoch }
    const areLive = (): boolean => replicas.every(replica => isLive(replica.subscription, running.hostEpoch))
    await waitFor(areLive, { what: 'all replicas are live', deadlineMs: 60_000, everyMs: EVERY_MS })
    live.push(performance.now() - from)
  }
  const what = `kill -9 → ${REPLICAS} replicas live, p50`
  report.add({ what: 'kill -9 → ready, p50', value: percentile(ready, 0.5), unit: 'ms' })
  report.add({ what, value: percentile(live, 0.5), unit: 'ms', against: FLOOR_START })
  await Promise.all(replicas.map(replica => replica.connection.close()))
  await running.stop(30_000)
}

interface Replica {
  readonly connection: LeaderConnection
  readonly subscription: SessionSubscription
}

async function openReplicas(connect: () => Promise<LeaderConnection>): Promise<readonly Replica[]> {
  const first = await connect()
  const sessions = await createSessions(first, 10)
  await first.close()
  const replicas: Replica[] = []
  while (replicas.length < REPLICAS) {
    const connection = await connect()
    const sessionId = sessions[replicas.length % sessions.length] as string
    replicas.push({ connection, subscription: await connection.openSessionSubscription({ sessionId }) })
  }
  return replicas
}

function isLive(subscription: SessionSubscription, hostEpoch: string): boolean {
  return subscription.freshness.state === 'live' && subscription.current.hostEpoch === hostEpoch
}
