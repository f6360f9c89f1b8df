import { ERRORS, type ErrorCode } from '../../../schema/errors.ts'
import { ReplicaOperationError } from '../types.ts'

/** An expected failure; without a message of its own with the table's words. */
export function operationError(code: ErrorCode, message?: string, detail?: unknown): ReplicaOperationError {
  return new ReplicaOperationError(code, message ?? ERRORS[code].meaning, detail)
}

/** The error in a reply; a code this build does not know becomes `internal_failure` and keeps its words. Source: W2, W5. */
export function readWireError(error: unknown): ReplicaOperationError {
  const { code, message, detail } = (error ?? {}) as { code?: unknown; message?: unknown; detail?: unknown }
  const isKnown = typeof code === 'string' && Object.hasOwn(ERRORS, code)
  const words = typeof message === 'string' ? message : undefined
  return operationError(isKnown ? (code as ErrorCode) : 'internal_failure', words, detail)
}
