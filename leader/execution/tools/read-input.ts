import type * as z from 'zod/mini'
import { readShape } from '../../../schema/commands/read-shape.ts'
import { HeadwaterError } from '../../../schema/errors.ts'

/** What a backend gave, in its shape and under the text rule. Throws HeadwaterError `invalid_request` with the first fault. Source: C3, C4. */
export function readInput<S extends z.ZodMiniType>(schema: S, input: unknown): z.infer<S> {
  return readShape(schema, plainJson(input))
}

/** The value as JSON carries it: what a backend gave may have undefined members, and must not change any more. */
function plainJson(input: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(input) ?? 'null')
  } catch {
    throw new HeadwaterError('invalid_request', 'must be plain JSON', { path: '' })
  }
}
