import { ReplicaOperationError } from '../../client/types.ts'

/** Why there is nothing to see, or why something was not done. */
export interface Failure {
  readonly code: string
  readonly message: string
}

/** An error as plain words with a code of the table. */
export function failureOf(error: unknown): Failure {
  const code = error instanceof ReplicaOperationError ? error.code : 'internal_failure'
  return Object.freeze({ code, message: error instanceof Error ? error.message : String(error) })
}
