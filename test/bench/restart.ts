import type { LeaderConnection, SessionSubscription } from '../../replica/index.ts'
import { type LeaderProcess, type ReadyLine, startLeaderProcess } from '../support/leader-process.ts'
import { waitFor } from '../support/wait-for.ts'
import { type Bench, type BenchContext, inDirectory } from './bench.ts'
import { createSessions, startProduct } from './parts/product.ts'
import { closeSockets, openSocket, openSockets, startFloorServer } from './parts/sockets.ts'
import { percentile } from './report.ts'

const REPLICAS = [20, 200] as const
const ROUNDS = 5
const floorName = (count: number): string => `floor: start a bare server, ${count} sockets, p50`
const EVERY_MS = 2

/** kill -9, start again at once, until 20 and 200 replicas are live on the new epoch; and as many sockets on a bare server. */
export const restart: Bench = {
  name: 'restart',
  async run(context) {
    await inDirectory(directory => measureFloor(context, directory))
    await inDirectory(directory => measureProduct(context, directory))
  },
}

async function measureFloor({ report }: BenchContext, directory: string): Promise<void> {
  for (const count of REPLICAS) {
    const waits: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const from = performance.now()
      const server = await startFloorServer(directory)
      const sockets = await openSockets(count, () => openSocket(server.url))
      waits.push(performance.now() - from)
      await closeSockets(sockets)
      await server.close()
    }
    report.add({ what: floorName(count), value: percentile(waits, 0.5), unit: 'ms' })
  }
}

async function measureProduct({ report }: BenchContext, directory: string): Promise<void> {
  const leader = await startProduct(directory)
  const running: Running = { current: leader.process, connect: leader.connect, root: leader.root }
  for (const count of REPLICAS) {
    const ready: number[] = []
    const live: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const waits = await measureRound(running, count)
      ready.push(waits.readyMs)
      live.push(waits.liveMs)
    }
    const name = `kill -9 with ${count} replicas`
    report.add({ what: `${name} → ready, p50`, value: percentile(ready, 0.5), unit: 'ms' })
    report.add({ what: `${name} → all live, p50`, value: percentile(live, 0.5), unit: 'ms', against: floorName(count) })
  }
  await running.current.stop(30_000)
}

/** The leader that runs at the moment. */
interface Running {
  current: LeaderProcess & { readonly line: ReadyLine }
  readonly connect: () => Promise<LeaderConnection>
  readonly root: string
}

/** One kill. The replicas are new ones: a replica that has just lost its leader several times waits longer each time. */
async function measureRound(running: Running, count: number): Promise<{ readyMs: number; liveMs: number }> {
  const replicas = await openReplicas(running.connect, count)
  const from = performance.now()
  await running.current.kill()
  running.current = await startLeaderProcess({ root: running.root })
  const readyMs = performance.now() - from
  const { hostEpoch } = running.current.line
  const areLive = (): boolean => replicas.every(replica => isLive(replica.subscription, hostEpoch))
  await waitFor(areLive, { what: 'all replicas are live', deadlineMs: 60_000, everyMs: EVERY_MS })
  const liveMs = performance.now() - from
  await Promise.all(replicas.map(replica => replica.connection.close()))
  return { readyMs, liveMs }
}

interface Replica {
  readonly connection: LeaderConnection
  readonly subscription: SessionSubscription
}

async function openReplicas(connect: () => Promise<LeaderConnection>, count: number): Promise<readonly Replica[]> {
  const first = await connect()
  const sessions = await createSessions(first, 10)
  await first.close()
  const replicas: Replica[] = []
  while (replicas.length < count) {
    const connection = await connect()
    const sessionId = sessions[replicas.length % sessions.length] as string
    replicas.push({ connection, subscription: await connection.openSessionSubscription({ sessionId }) })
  }
  return replicas
}

function isLive(subscription: SessionSubscription, hostEpoch: string): boolean {
  return subscription.freshness.state === 'live' && subscription.current.hostEpoch === hostEpoch
}
