import { findOperation } from '../../../schema/commands/index.ts'

/** An operation's name as a metric label: names that clients make up count as `unknown`. */
export function countedName(operation: string): string {
  return findOperation(operation) === undefined ? 'unknown' : operation
}
