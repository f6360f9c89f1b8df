import type { LeaderConnection } from '../../replica/index.ts'
import { type Bench, type BenchContext, inDirectory } from './bench.ts'
import { FLOOR } from './floors.ts'
import { createSessions, startProduct } from './parts/product.ts'
import { percentile } from './report.ts'

const MEASURE_MS = 4_000
/** Few enough that all sessions of all clients stay loaded. */
const SESSIONS_PER_CLIENT = 8
const LOADS = [
  { clients: 1, outstanding: 1, against: FLOOR.serialPuts },
  { clients: 1, outstanding: 64, against: FLOOR.batches },
  { clients: 8, outstanding: 1, against: FLOOR.serialPuts },
  { clients: 8, outstanding: 64, against: FLOOR.batches },
] as const

/** Validated, durable commands from 1 and 8 clients with 1 and 64 outstanding, and how long one takes. */
export const commands: Bench = {
  name: 'commands',
  needs: ['floors'],
  run: context =>
    inDirectory(async directory => {
      const leader = await startProduct(directory)
      for (const load of LOADS) {
        const connections = await Promise.all(Array.from({ length: load.clients }, () => leader.connect()))
        await measure(context, connections, load)
        await Promise.all(connections.map(connection => connection.close()))
      }
      await leader.close()
    }),
}

async function measure(
  { report, scale }: BenchContext,
  connections: readonly LeaderConnection[],
  { clients, outstanding, against }: (typeof LOADS)[number],
): Promise<void> {
  const chains: Chain[] = []
  const sessions = Math.min(outstanding, SESSIONS_PER_CLIENT)
  for (const connection of connections) {
    for (const sessionId of await createSessions(connection, sessions)) {
      const { revision } = (await connection.request('session.get', { sessionId })).session
      chains.push({ connection, sessionId, depth: outstanding / sessions, nextRevision: revision })
    }
  }
  await drive(chains, performance.now() + 500 * scale)
  const from = performance.now()
  const waits = await drive(chains, from + MEASURE_MS * scale)
  const perSecond = (waits.length / (performance.now() - from)) * 1_000
  const name = `${clients} client${clients === 1 ? '' : 's'} × ${outstanding} outstanding`
  report.add({ what: `commands, ${name}`, value: perSecond, unit: 'per_second', against })
  report.add({
    what: `command, ${name}, p50`,
    value: percentile(waits, 0.5),
    unit: 'ms',
    against: FLOOR.durableRoundTrip,
  })
  report.add({
    what: `command, ${name}, p99`,
    value: percentile(waits, 0.99),
    unit: 'ms',
    against: FLOOR.durableRoundTripP99,
  })
}

/**
 * One session whose title is changed again and again. `depth` changes are outstanding at once: each names the revision that the one sent before it
 * will give, which holds because a lane decides in the order of arrival.
 */
interface Chain {
  readonly connection: LeaderConnection
  readonly sessionId: string
  readonly depth: number
  nextRevision: number
}

async function drive(chains: readonly Chain[], until: number): Promise<readonly number[]> {
  const waits: number[] = []
  const places = chains.flatMap(chain => Array.from({ length: chain.depth }, () => chain))
  await Promise.all(places.map(chain => driveOne(chain, until, waits)))
  return waits
}

async function driveOne(chain: Chain, until: number, waits: number[]): Promise<void> {
  const { connection, sessionId } = chain
  while (performance.now() < until) {
    const from = performance.now()
    const expectedRevision = chain.nextRevision++
    const patch = { title: `changed at ${from}` }
    const result = await connection.request('session.update', { sessionId, expectedRevision, patch })
    if (result.kind !== 'committed') throw new Error(`a chain was broken: ${JSON.stringify(result)}`)
    waits.push(performance.now() - from)
  }
}
