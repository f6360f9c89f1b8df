import { ERRORS } from '../../../schema/errors.ts'

/** Why there is nothing to see, or why something was not done. */
export interface Failure {
  readonly code: string
  readonly message: string
}

/** An error as plain words with a code of the table. It is told by its code and not by its class: a connection may come from another bundle. */
export function failureOf(error: unknown): Failure {
  const named = (error as { readonly code?: unknown } | null)?.code
  const code = typeof named === 'string' && Object.hasOwn(ERRORS, named) ? named : 'internal_failure'
  return Object.freeze({ code, message: error instanceof Error ? error.message : String(error) })
}
