import { HeadwaterError } from '../../../../schema/errors.ts'
import type { DatabaseFacts } from '../../level/batch-ring.ts'
import type { Anchor } from './anchor.ts'

/**
 * Why a database is not what was acknowledged: `behind` its anchor, `other_database` than the root's own, `missing_batch` in the middle, or
 * the anchor is gone or damaged, so that nothing proves that it is whole. Source: D4.
 */
export type RegressionKind = 'behind' | 'other_database' | 'missing_batch' | 'anchor_missing' | 'anchor_damaged'

/** A database that must not be written on, and the words for it, with the way out. */
export interface Regression {
  readonly kind: RegressionKind
  readonly message: string
}

const WAY_OUT =
  'Nothing is written. Stop the leader and put the right database back, or go on with what is there: headwater doctor --accept-regression'

/**
 * Compares a database with what its root knows of it; null where nothing speaks against it. `knownId` is the id in the marker, absent for a
 * root that never had an anchor. Source: D4.
 */
export function findRegression(
  anchor: Anchor | 'missing' | 'damaged',
  knownId: string | undefined,
  facts: DatabaseFacts,
): Regression | null {
  const { databaseId, batch, missingBatch } = facts
  const expectedId = typeof anchor === 'string' ? knownId : anchor.databaseId
  if (expectedId !== undefined && databaseId !== expectedId) {
    return regression('other_database', 'The database is not the one that this data root had.')
  }
  if (typeof anchor !== 'string' && batch < anchor.batch) {
    const reached = `it ends at batch ${batch}, and ${anchor.batch} was acknowledged`
    return regression('behind', `The database is older than what was acknowledged: ${reached}.`)
  }
  if (missingBatch !== null) {
    return regression(
      'missing_batch',
      `The database lacks batch ${missingBatch} of ${batch}: a part of its log is lost.`,
    )
  }
  if (anchor === 'damaged') return regression('anchor_damaged', 'The anchor file of the data root is damaged.')
  if (anchor === 'missing' && knownId !== undefined) {
    return regression(
      'anchor_missing',
      'The anchor file of the data root is gone, so nothing shows that its database is whole.',
    )
  }
  return null
}

function regression(kind: RegressionKind, what: string): Regression {
  return { kind, message: `${what} ${WAY_OUT}` }
}

/** Thrown out of an open that found a regression. */
export class RootRegressed extends HeadwaterError {
  readonly regression: Regression

  constructor(regression: Regression) {
    super('root_regressed', regression.message, { kind: regression.kind })
    this.regression = regression
  }
}
