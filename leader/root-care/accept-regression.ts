import { HeadwaterError } from '../../schema/errors.ts'
import type { RootOwner } from '../log/root/owner.ts'
import { openRootStore } from '../open-root-store.ts'

/** What was accepted: the words for what was wrong, and the newest batch that is there. */
export interface Accepted {
  readonly was: string
  readonly batch: number
}

/**
 * Takes the database of an owned root as it is, although it is not what was acknowledged: it begins a new lineage and a new anchor. What was
 * lost stays lost. Refused with `operation_conflict` where nothing is wrong. Durable when it resolves; cut off anywhere, it can be done
 * again. Source: D4.
 */
export async function acceptRegression(owner: RootOwner): Promise<Accepted> {
  const found = await openRootStore(owner)
  const { regression } = found
  await found.close()
  if (regression === null) {
    throw new HeadwaterError(
      'operation_conflict',
      'The database of this data root is what was acknowledged; there is nothing to accept.',
    )
  }
  // A copy stays one: what its original's runs left is not its own.
  if (owner.pending === undefined) await owner.setPending('accepted')
  const store = await openRootStore(owner, { accept: true })
  const { batchNumber: batch } = store
  await store.close()
  return { was: regression.message, batch }
}
