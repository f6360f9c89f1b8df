import type * as z from 'zod/mini'

/**
 * One operation. `kind`: a `command` runs in a session's lane and leaves a receipt, a `query` only reads, `host` concerns the leader.
 * `identity` names the input's field that identifies the command within its session; `operationId` is filled in by the client library.
 * `scope` is the name under which its receipts are kept, where several operations share one namespace of ids. Source: A5.
 */
export interface Operation<In extends z.ZodMiniType = z.ZodMiniType, Out extends z.ZodMiniType = z.ZodMiniType> {
  readonly kind: 'command' | 'query' | 'host'
  readonly input: In
  readonly result: Out
  readonly identity?: string
  readonly scope?: string
}

/** Declares an operation that is decided in a session's lane; `identity` names the field that identifies it, `scope` its namespace. */
export function command<In extends z.ZodMiniType, Out extends z.ZodMiniType>(
  identity: string,
  input: In,
  result: Out,
  scope?: string,
): Operation<In, Out> & { kind: 'command'; identity: string } {
  return { kind: 'command', identity, input, result, ...(scope === undefined ? {} : { scope }) }
}

/** Declares an operation that only reads. */
export function query<In extends z.ZodMiniType, Out extends z.ZodMiniType>(
  input: In,
  result: Out,
): Operation<In, Out> & { kind: 'query' } {
  return { kind: 'query', input, result }
}

/** Declares an operation on the leader itself. */
export function host<In extends z.ZodMiniType, Out extends z.ZodMiniType>(
  input: In,
  result: Out,
): Operation<In, Out> & { kind: 'host' } {
  return { kind: 'host', input, result }
}
