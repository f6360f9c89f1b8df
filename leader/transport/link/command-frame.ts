import type { WireError } from '../../../schema/wire/frames.ts'

const REQUEST_ID_CHARS = 128
const OPERATION_CHARS = 64

/** A parsed JSON object whose values are not looked at. */
export type JsonObject = Readonly<Record<string, unknown>>

/** A command frame that fits, or the first fault in it. */
export type CommandReading =
  | { readonly kind: 'command'; readonly operation: string; readonly input: JsonObject }
  | { readonly kind: 'invalid'; readonly error: WireError }

/** The JSON object of a text frame, or undefined for anything else. */
export function parseFrame(bytes: Buffer): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** True for an id that a reply can carry back. */
export function isRequestId(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= REQUEST_ID_CHARS
}

/** Checks the frame around a command by hand: this runs for every command, and its input has a schema of its own. Source: W2. */
export function readCommand(frame: JsonObject): CommandReading {
  for (const key in frame) {
    if (key !== 'requestId' && key !== 'operation' && key !== 'input') return invalid(key, 'unknown key')
  }
  const { operation, input } = frame
  if (typeof operation !== 'string' || operation.length === 0 || operation.length > OPERATION_CHARS) {
    return invalid('operation', `must be a string of 1 to ${OPERATION_CHARS} characters`)
  }
  if (!isObject(input)) return invalid('input', 'must be an object')
  return { kind: 'command', operation, input }
}

function isObject(value: unknown): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

function invalid(key: string, words: string): CommandReading {
  const path = key.slice(0, OPERATION_CHARS)
  return { kind: 'invalid', error: { code: 'invalid_request', message: `${path}: ${words}`, detail: { path } } }
}
