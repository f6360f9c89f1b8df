import { takeEvidence } from './evidence.ts'
import { Lease } from './lease.ts'
import type { RootCapability } from './resolve.ts'
import { makeView, sweepViews } from './view.ts'

/**
 * A frozen look at a root, beside other readers and whoever owns the root later. `databasePath` is a copy that only this reader has;
 * with `isEmpty` the root has no database yet and the directory is empty. The root's anchor, if there is one, stands beside it.
 */
export interface RootReader {
  readonly capability: RootCapability
  readonly databasePath: string
  readonly isEmpty: boolean
  readonly closed: boolean
  /** Rejects with `invalid_lease` once closed; `close` waits for the operation. */
  run<T>(operation: () => Promise<T>): Promise<T>
  /** Removes the view; idempotent. What was opened in it must be closed before. */
  close(): Promise<void>
}

/**
 * Makes a view of a root; undefined while an owner holds the root. The root's lock is held only until the view is there.
 * Errors: as for an owner. Source: R9.
 */
export async function tryAcquireRootReader(capability: RootCapability): Promise<RootReader | undefined> {
  const evidence = await takeEvidence(capability, 'view')
  if (evidence === undefined) return undefined
  try {
    await sweepViews(capability.path).catch(() => {}) // leftovers of others are no reason to fail
    const isEmpty = !evidence.marker.databaseCreated
    const view = await makeView(capability.path, !isEmpty)
    const lease = new Lease(() => view.remove())
    return {
      capability,
      databasePath: view.databasePath,
      isEmpty,
      get closed() {
        return lease.closed
      },
      run: operation => lease.run(operation),
      close: () => lease.close(),
    }
  } finally {
    await evidence.close()
  }
}
