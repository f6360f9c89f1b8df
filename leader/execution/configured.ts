import { HeadwaterError } from '../../schema/errors.ts'
import { LIMITS } from '../../schema/limits.ts'
import { readAtDoor } from '../../schema/text.ts'
import { createAcpBackend } from './acp/acp-backend.ts'
import type { Backend } from './backend.ts'
import { type ExecutionLog, silentLog } from './ports.ts'

/** An agent as the configuration names it: its command line, and what its environment gets on top. Source: interfaces 3. */
export interface ConfiguredBackend {
  readonly name: string
  readonly acp: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/**
 * Reads the `backends` part of the configuration: `{"opencode": {"acp": ["opencode", "acp"], "env": {"KEY": "value"}}}`; absent gives none.
 * Anything else is `invalid_request` with the path of the first fault in `detail.path`.
 */
export function readConfiguredBackends(value: unknown): readonly ConfiguredBackend[] {
  if (value === undefined) return []
  const door = readAtDoor(value)
  if (!door.ok) refuse(door.path === '' ? 'backends' : `backends.${door.path}`, door.message)
  const rows = Object.entries(readObject(door.value, 'backends'))
  if (rows.length > LIMITS.backendsConfigured) refuse('backends', `has more than ${LIMITS.backendsConfigured} entries`)
  return rows.map(([name, row]) => readBackend(name, row))
}

/** The backends of a configuration, ready to be driven. */
export function createConfiguredBackends(
  configured: readonly ConfiguredBackend[],
  log: ExecutionLog = silentLog,
): readonly Backend[] {
  return configured.map(({ name, acp, env }) => createAcpBackend({ kind: name, command: acp, env, log }))
}

function readBackend(name: string, value: unknown): ConfiguredBackend {
  const path = `backends.${name}`
  if (name.length === 0 || name.length > LIMITS.toolNameChars) {
    refuse(path, `must have a name of 1 to ${LIMITS.toolNameChars} characters`)
  }
  const row = readObject(value, path)
  for (const key of Object.keys(row)) {
    if (key !== 'acp' && key !== 'env') refuse(`${path}.${key}`, 'is not a known key; known are acp and env')
  }
  return { name, acp: readCommand(row.acp, `${path}.acp`), env: readEnvironment(row.env, `${path}.env`) }
}

function readCommand(value: unknown, path: string): readonly string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > LIMITS.agentCommandParts) {
    refuse(path, `must be a list of 1 to ${LIMITS.agentCommandParts} strings: the agent's command line`)
  }
  return value.map((part, i) => {
    const isFit = typeof part === 'string' && part.length <= LIMITS.pathBytes && !part.includes('\0')
    if (!isFit || (i === 0 && part === ''))
      refuse(`${path}[${i}]`, 'must be a string without NUL, the first one not empty')
    return part
  })
}

function readEnvironment(value: unknown, path: string): Readonly<Record<string, string>> {
  if (value === undefined) return {}
  const entries = Object.entries(readObject(value, path))
  if (entries.length > LIMITS.agentEnvironmentEntries) {
    refuse(path, `has more than ${LIMITS.agentEnvironmentEntries} entries`)
  }
  const environment: Record<string, string> = {}
  for (const [key, text] of entries) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(key)) refuse(`${path}.${key}`, 'is no name of an environment variable')
    if (key.startsWith('HEADWATER_')) refuse(`${path}.${key}`, 'belongs to Headwater and cannot be set here')
    if (typeof text !== 'string' || text.includes('\0')) refuse(`${path}.${key}`, 'must be a string without NUL')
    environment[key] = text
  }
  return environment
}

function readObject(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) refuse(path, 'must be an object')
  return value as Readonly<Record<string, unknown>>
}

function refuse(path: string, why: string): never {
  throw new HeadwaterError('invalid_request', `The configuration's ${path} ${why}.`, { path })
}
