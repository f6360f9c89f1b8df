import * as z from 'zod/mini'
import { firstFault } from '../../../schema/commands/first-fault.ts'
import { HeadwaterError } from '../../../schema/errors.ts'
import { readAtDoor } from '../../../schema/text.ts'

/** What a backend gave, in its shape and under the text rule. Throws HeadwaterError `invalid_request` with the first fault. Source: C3, C4. */
export function readInput<S extends z.ZodMiniType>(schema: S, input: unknown): z.infer<S> {
  const door = readAtDoor(plainJson(input))
  if (!door.ok) throw new HeadwaterError('invalid_request', `${door.path}: ${door.message}`, { path: door.path })
  const parsed = z.safeParse(schema, door.value)
  if (parsed.success) return parsed.data
  const { path, message } = firstFault(parsed.error.issues)
  throw new HeadwaterError('invalid_request', path === '' ? message : `${path}: ${message}`, { path })
}

/** The value as JSON carries it: what a backend gave may have undefined members, and must not change any more. */
function plainJson(input: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(input) ?? 'null')
  } catch {
    throw new HeadwaterError('invalid_request', 'must be plain JSON', { path: '' })
  }
}
