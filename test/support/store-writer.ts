import { writeSync } from 'node:fs'
import { openLevelStore } from '../../leader/log/level-store.ts'
import type { SessionHead, Store } from '../../leader/log/store.ts'

/*
 * A process that writes to a store until it is killed: `store-writer.ts PATH create|open SESSIONS`. It prints `SESSION REVISION` for
 * each acknowledged transition, and compacts now and then.
 */
const COMPACT_EVERY = 25

async function main(): Promise<void> {
  const [path = '', mode, sessions = '1'] = process.argv.slice(2)
  const store = await openLevelStore({ path, create: mode === 'create', fence: 1 })
  await Promise.all(Array.from({ length: Number(sessions) }, (_, index) => write(store, `s-${index}`)))
}

async function write(store: Store, session: string): Promise<void> {
  const claim = await store.acquire(session)
  if (claim.kind !== 'owned') throw new Error(`${session} is held`)
  let head: SessionHead = claim.head
  for (;;) {
    const revision = head.revision + 1
    const bytes = new TextEncoder().encode(`${session} ${revision} ${'x'.repeat(revision % 400)}`)
    const transition = {
      record: { revision, bytes },
      update: { number: head.update + 1, bytes },
      receipt: { operation: 'queue.submit', id: `m${revision}`, body: bytes },
      rows: [{ kind: 'session' as const, id: session, value: new TextEncoder().encode(String(revision)) }],
    }
    const item = { session, fence: claim.fence, expectedHead: head, transitions: [transition] }
    const [outcome] = await store.append([item])
    if (outcome?.kind !== 'committed') throw new Error(`not committed: ${JSON.stringify(outcome)}`)
    head = outcome.head
    writeSync(1, `${session} ${head.revision}\n`)
    if (head.revision % COMPACT_EVERY === 0) {
      const generation = `g${head.revision}`
      await store.compact(session, claim.fence, { through: head.update - 3, generation, bytes })
    }
  }
}

await main()
