import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Level } from 'level'
import { openLevelStore } from '../../leader/log/level-store.ts'
import type { SessionHead, Store, StoredTransition } from '../../leader/log/store.ts'

/** One measurement: how many records or transitions a second, and how long one waited. */
export interface StoreFigure {
  readonly name: string
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

const RECORD_BYTES = 200

async function inTempDir<T>(run: (path: string) => Promise<T>): Promise<T> {
  const path = mkdtempSync(join(tmpdir(), 'hw-bench-'))
  try {
    return await run(path)
  } finally {
    rmSync(path, { recursive: true, force: true })
  }
}

function figure(name: string, count: number, startedAt: number, waits: number[]): StoreFigure {
  const seconds = (performance.now() - startedAt) / 1_000
  const sorted = waits.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { name, perSecond: Math.round(count / seconds), p50Ms: at(0.5), p99Ms: at(0.99) }
}

/** The floor: synced batches of one size, one after the other, on the database alone. */
export async function measureRawBatches(size: number, forMs: number): Promise<StoreFigure> {
  return await inTempDir(async path => {
    const database = new Level<string, Uint8Array>(path, { keyEncoding: 'utf8', valueEncoding: 'view' })
    await database.open()
    const value = new Uint8Array(RECORD_BYTES).fill(65)
    const waits: number[] = []
    let count = 0
    const startedAt = performance.now()
    while (performance.now() - startedAt < forMs) {
      const from = performance.now()
      const operations = Array.from({ length: size }, () => ({ type: 'put' as const, key: `k${count++}`, value }))
      await database.batch(operations, { sync: true })
      waits.push(performance.now() - from)
    }
    const result = figure(`level batch(${size}, sync)`, count, startedAt, waits)
    await database.close()
    return result
  })
}

type Shape = 'record' | 'command'

function transition(shape: Shape, head: SessionHead, bytes: Uint8Array): StoredTransition {
  const revision = head.revision + 1
  if (shape === 'record') return { record: { revision, bytes } }
  return {
    record: { revision, bytes },
    update: { number: head.update + 1, bytes },
    receipt: { operation: 'queue.submit', id: `id-${revision}`, body: bytes },
    rows: [{ kind: 'session', id: `s-${revision % 8}`, value: bytes }],
  }
}

async function produce(store: Store, session: string, shape: Shape, until: number, waits: number[]): Promise<void> {
  const bytes = new Uint8Array(RECORD_BYTES).fill(65)
  const claim = await store.acquire(session)
  if (claim.kind !== 'owned') throw new Error('not owned')
  let { head } = claim
  while (performance.now() < until) {
    const from = performance.now()
    const transitions = [transition(shape, head, bytes)]
    const [outcome] = await store.append([{ session, fence: claim.fence, expectedHead: head, transitions }])
    if (outcome?.kind !== 'committed') throw new Error(`not committed: ${outcome?.kind}`)
    head = outcome.head
    waits.push(performance.now() - from)
  }
}

/** The committer under producers that each wait for one transition before they give the next. */
export async function measureStore(producers: number, shape: Shape, forMs: number): Promise<StoreFigure> {
  return await inTempDir(async path => {
    const store = await openLevelStore({ path: join(path, 'db'), create: true, fence: 1 })
    const waits: number[] = []
    const startedAt = performance.now()
    const until = startedAt + forMs
    await Promise.all(
      Array.from({ length: producers }, (_, index) => produce(store, `session-${index}`, shape, until, waits)),
    )
    const result = figure(`store, ${shape}s, ${producers} producers`, waits.length, startedAt, waits)
    await store.close()
    return result
  })
}

/** Floor and store side by side, in one run. */
export async function measureStoreFloor(forMs: number): Promise<readonly StoreFigure[]> {
  const figures: StoreFigure[] = []
  for (const size of [1, 64, 256]) figures.push(await measureRawBatches(size, forMs))
  for (const shape of ['record', 'command'] as const) {
    for (const producers of [1, 8, 64, 256]) figures.push(await measureStore(producers, shape, forMs))
  }
  return figures
}

if (import.meta.url === `file://${process.argv[1]}`) {
  for (const { name, perSecond, p50Ms, p99Ms } of await measureStoreFloor(1_500)) {
    console.log(
      `${name.padEnd(36)} ${String(perSecond).padStart(8)}/s  p50 ${p50Ms.toFixed(2)}  p99 ${p99Ms.toFixed(2)} ms`,
    )
  }
}
