import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type OfflineStore, openStore, resolveRoot, tryAcquireRootOwner } from '../../../leader/index.ts'
import type { LeaderConnection } from '../../../replica/client/types.ts'
import { connectLeader } from '../../../replica/index.ts'
import { isolatedEnvironment, useEnvironment } from '../environment.ts'
import { type LeaderOptions, type LeaderProcess, type ReadyLine, spawnLeader } from '../leader-process.ts'
import { testTempDir } from '../temp-dir.ts'

/** A leader of a test root that is ready. */
export type ReadyLeader = LeaderProcess & { readonly line: ReadyLine }

/** A data root of the running test, with the leaders and replicas it was given. */
export interface TestRoot {
  readonly path: string
  /** Starts a leader process; it does not outlive the test. */
  spawn(options?: Omit<LeaderOptions, 'root'>): LeaderProcess
  /** Starts a leader process and waits until it is ready. */
  start(options?: Omit<LeaderOptions, 'root'>): Promise<ReadyLeader>
  /** A replica of this root; closed when the test ends. */
  connect(surface?: string): Promise<LeaderConnection>
  /** Opens the store without a leader, and gives the root back when `use` is done. */
  offline<T>(use: (store: OfflineStore) => Promise<T>): Promise<T>
}

/** A new root for the running test. All that headwater writes stays in one temporary directory, which is kept when the test fails. */
export function testRoot(): TestRoot {
  const directory = testTempDir('live')
  return rootAt(join(directory, 'root'), directory)
}

/** As `testRoot`, with the root itself at a place of one's own: a small disk, say. */
export function rootAt(path: string, directory: string): TestRoot {
  onTestFinished(useEnvironment(isolatedEnvironment(directory)))
  const leaders = new Set<LeaderProcess>()
  const connections = new Set<LeaderConnection>()
  onTestFinished(async () => {
    await Promise.all([...connections].map(connection => connection.close()))
    await Promise.all([...leaders].map(leader => leader.kill()))
  })
  const spawn: TestRoot['spawn'] = options => {
    const leader = spawnLeader({ root: path, ...options })
    leaders.add(leader)
    void leader.exited.finally(() => leaders.delete(leader))
    return leader
  }
  return {
    path,
    spawn,
    start: async options => {
      const leader = spawn(options)
      return { ...leader, line: await leader.ready }
    },
    connect: async (surface = 'run') => {
      const result = await connectLeader({ root: path, surface, cache: false })
      if (result.kind !== 'connected') throw new Error(`not connected: ${JSON.stringify(result)}`)
      connections.add(result.connection)
      return result.connection
    },
    offline: use => useOffline(path, use),
  }
}

async function useOffline<T>(path: string, use: (store: OfflineStore) => Promise<T>): Promise<T> {
  const owner = await tryAcquireRootOwner(await resolveRoot({ path }))
  if (owner === undefined) throw new Error(`the root is owned: ${path}`)
  try {
    const store = await openStore(owner)
    try {
      return await use(store)
    } finally {
      await store.close()
    }
  } finally {
    await owner.close()
  }
}
