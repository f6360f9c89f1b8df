import * as z from 'zod/mini'
import { HeadwaterError } from '../errors.ts'
import { readAtDoor } from '../text.ts'
import { firstFault } from './first-fault.ts'

/**
 * A value that came from outside, in its shape and under the text rule. Throws HeadwaterError `invalid_request` with the path of the first
 * fault. Source: C3, C4, W2.
 */
export function readShape<S extends z.ZodMiniType>(schema: S, value: unknown): z.infer<S> {
  const door = readAtDoor(value)
  if (!door.ok) throw new HeadwaterError('invalid_request', `${door.path}: ${door.message}`, { path: door.path })
  const parsed = z.safeParse(schema, door.value)
  if (parsed.success) return parsed.data
  const { path, message } = firstFault(parsed.error.issues)
  throw new HeadwaterError('invalid_request', path === '' ? message : `${path}: ${message}`, { path })
}
