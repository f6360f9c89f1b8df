import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { Level } from 'level'
import type { WebSocket } from 'ws'
import { type Bench, type BenchContext, inDirectory } from './bench.ts'
import { openSocket, startFloorServer } from './parts/sockets.ts'
import { percentile } from './report.ts'

const RECORD_BYTES = 200
const MEASURE_MS = 2_000

/** Names of the floors, as the product's figures refer to them. */
export const FLOOR = {
  append: 'floor: append 200 B + fsync, p50',
  appendP99: 'floor: append 200 B + fsync, p99',
  serialPuts: 'floor: level put(sync), serial',
  batches: 'floor: level batch(64, sync), records',
  echo: 'floor: WebSocket echo 200 B, p50',
  echoP99: 'floor: WebSocket echo 200 B, p99',
  durableRoundTrip: 'floor: fsync + echo, p50',
  durableRoundTripP99: 'floor: fsync + echo, p99',
} as const

/** What the machine, the file system, the database and the socket can do at best. */
export const floors: Bench = {
  name: 'floors',
  async run(context) {
    await measureAppends(context)
    await measureDatabase(context)
    await measureEcho(context)
    const { report } = context
    const sum = (a: string, b: string): number => report.value(a) + report.value(b)
    report.add({ what: FLOOR.durableRoundTrip, value: sum(FLOOR.append, FLOOR.echo), unit: 'ms' })
    report.add({ what: FLOOR.durableRoundTripP99, value: sum(FLOOR.appendP99, FLOOR.echoP99), unit: 'ms' })
  },
}

async function measureAppends({ report, scale, directory }: BenchContext): Promise<void> {
  const file = await open(join(directory(), 'appended'), 'a')
  const bytes = Buffer.alloc(RECORD_BYTES, 65)
  const waits = await repeatFor(MEASURE_MS * scale, async () => {
    await file.appendFile(bytes)
    await file.datasync()
  })
  await file.close()
  report.add({ what: FLOOR.append, value: percentile(waits, 0.5), unit: 'ms' })
  report.add({ what: FLOOR.appendP99, value: percentile(waits, 0.99), unit: 'ms' })
}

async function measureDatabase({ report, scale, directory }: BenchContext): Promise<void> {
  const path = join(directory(), 'level')
  const database = new Level<string, Uint8Array>(path, { keyEncoding: 'utf8', valueEncoding: 'view' })
  await database.open()
  const value = new Uint8Array(RECORD_BYTES).fill(65)
  let next = 0
  const forMs = MEASURE_MS * scale
  const puts = await repeatFor(forMs, () => database.put(`put-${next++}`, value, { sync: true }))
  report.add({ what: FLOOR.serialPuts, value: (puts.length / sumOf(puts)) * 1_000, unit: 'per_second' })
  const batches = await repeatFor(forMs, () => {
    const operations = Array.from({ length: 64 }, () => ({ type: 'put' as const, key: `batch-${next++}`, value }))
    return database.batch(operations, { sync: true })
  })
  report.add({ what: FLOOR.batches, value: ((batches.length * 64) / sumOf(batches)) * 1_000, unit: 'per_second' })
  await database.close()
}

async function measureEcho({ report, scale }: BenchContext): Promise<void> {
  await inDirectory(async directory => {
    const server = await startFloorServer(directory)
    const socket = await openSocket(server.url)
    const message = Buffer.alloc(RECORD_BYTES, 65)
    const waits = await repeatFor(MEASURE_MS * scale, () => echo(socket, message))
    socket.terminate()
    await server.close()
    report.add({ what: FLOOR.echo, value: percentile(waits, 0.5), unit: 'ms' })
    report.add({ what: FLOOR.echoP99, value: percentile(waits, 0.99), unit: 'ms' })
  })
}

function echo(socket: WebSocket, message: Buffer): Promise<void> {
  return new Promise(resolve => {
    socket.once('message', () => resolve())
    socket.send(message)
  })
}

/** Does something again and again for a while, one after the other; how long each took. Unit: ms. */
export async function repeatFor(forMs: number, action: () => Promise<unknown>): Promise<readonly number[]> {
  const waits: number[] = []
  const end = performance.now() + forMs
  do {
    const from = performance.now()
    await action()
    waits.push(performance.now() - from)
  } while (performance.now() < end)
  return waits
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0)
}
