import { join } from 'node:path'
import { openLevelStore } from './log/level-store.ts'
import type { RootOwner } from './log/root/owner.ts'
import type { Store } from './log/store.ts'

/** Within one tenure of a root nobody else can write: the root's lock is the fence, so its number never changes. */
const FENCE = 1

/** Opens the database of an owned root; a new one is created only where the marker says that there was none. `onBatch` is told how long each batch took. Source: R5, R7, E8. */
export async function openRootStore(owner: RootOwner, onBatch?: (seconds: number) => void): Promise<Store> {
  const isNew = !owner.databaseCreated()
  const store = await openLevelStore({
    path: owner.databasePath,
    create: isNew,
    fence: FENCE,
    prove: () => owner.prove(),
    ballastPath: join(owner.capability.path, 'ballast'),
    ...(onBatch === undefined ? {} : { interceptWrite: write => timed(write, onBatch) }),
  })
  if (isNew) await owner.markDatabaseCreated()
  return store
}

async function timed(write: () => Promise<void>, onBatch: (seconds: number) => void): Promise<void> {
  const startMs = performance.now()
  await write()
  onBatch((performance.now() - startMs) / 1000)
}
