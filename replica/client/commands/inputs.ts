import { firstFault } from '../../../schema/commands/first-fault.ts'
import { findOperation } from '../../../schema/commands/index.ts'
import { ReplicaProtocolError } from '../types.ts'

/**
 * The input as it is sent: checked against the operation's schema, with an `operationId` where the operation is identified by one and the
 * caller gave none. Throws ReplicaProtocolError with the path of the first fault; then nothing was sent. Source: A5, W2.
 */
export function readInput(operation: string, input: unknown, newId: () => string): Readonly<Record<string, unknown>> {
  const known = findOperation(operation)
  if (known === undefined) throw new ReplicaProtocolError(`there is no operation ${JSON.stringify(operation)}`)
  const isObject = typeof input === 'object' && input !== null && !Array.isArray(input)
  const given = isObject ? (input as Record<string, unknown>) : undefined
  const isNameless = known.identity === 'operationId' && given !== undefined && given.operationId === undefined
  const parsed = known.input.safeParse(isNameless ? { ...given, operationId: newId() } : input)
  if (parsed.success) return parsed.data as Record<string, unknown>
  const { path, message } = firstFault(parsed.error.issues)
  throw new ReplicaProtocolError(`${operation}: ${path === '' ? '' : `${path}: `}${message}`, path)
}
