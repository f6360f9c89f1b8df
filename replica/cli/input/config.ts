import { readFile } from 'node:fs/promises'
import { LIMITS } from '../../../schema/limits.ts'
import { nearest } from '../../view/nearest.ts'
import type { CommandContext } from '../context.ts'
import { CliFailure } from '../failure.ts'
import { placesHere } from '../reach/here.ts'

/** The user's settings. `backends`: name → how it is run, as the leader reads it. Source: interfaces 5. */
export interface Config {
  readonly backends?: Readonly<Record<string, unknown>>
  readonly defaultBackend?: string
}

const KEYS = ['$schema', 'backends', 'defaultBackend'] as const

/** The backend of a session for which none is named and none is configured. */
export const FALLBACK_BACKEND = 'scripted'

/** Reads the user's settings; a missing file is empty ones. Unknown keys are named on stderr, a broken file is a usage error. */
export async function readConfig(context: Pick<CommandContext, 'notices' | 'surroundings'>): Promise<Config> {
  const path = placesHere(context.surroundings.env).configFile
  const text = await readIfThere(path)
  if (text === undefined) return {}
  const { parse, printParseErrorCode } = await import('jsonc-parser')
  const errors: { error: number; offset: number; length: number }[] = []
  const value: unknown = parse(text, errors, { allowTrailingComma: true, allowEmptyContent: true })
  const first = errors[0]
  if (first !== undefined) {
    const line = text.slice(0, first.offset).split('\n').length
    throw broken(path, `line ${line}: ${printParseErrorCode(first.error)}`)
  }
  if (value === undefined) return {}
  if (!isObject(value)) throw broken(path, 'it must be an object')
  for (const key of Object.keys(value)) warnUnknown(key, path, context)
  return checked(value, path)
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    const bytes = await readFile(path)
    if (bytes.byteLength > LIMITS.configBytes) throw broken(path, `it is over ${LIMITS.configBytes} bytes`)
    return bytes.toString('utf8').replace(/^\ufeff/, '')
  } catch (error) {
    if (error instanceof CliFailure) throw error
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw broken(path, (error as Error).message)
  }
}

function warnUnknown(key: string, path: string, { notices }: Pick<CommandContext, 'notices'>): void {
  if ((KEYS as readonly string[]).includes(key)) return
  const [close] = nearest(key, KEYS)
  notices.notice(`${path}: unknown key "${key}"${close === undefined ? '' : `; did you mean "${close}"?`}`)
}

function checked(value: Record<string, unknown>, path: string): Config {
  const { backends, defaultBackend } = value
  if (backends !== undefined && !isObject(backends)) throw broken(path, '"backends" must be an object')
  if (defaultBackend !== undefined && typeof defaultBackend !== 'string') {
    throw broken(path, '"defaultBackend" must be a string')
  }
  return {
    ...(backends === undefined ? {} : { backends }),
    ...(defaultBackend === undefined ? {} : { defaultBackend }),
  }
}

function broken(path: string, why: string): CliFailure {
  return new CliFailure('usage', `The configuration ${path} cannot be used: ${why}.`, { next: 'mend that file' })
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
