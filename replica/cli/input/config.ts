import { LIMITS } from '../../../schema/limits.ts'
import type { GivenSettings } from '../../settings/read-settings.ts'
import type { CommandContext } from '../context.ts'
import { CliFailure } from '../failure.ts'
import { placesHere } from '../reach/here.ts'

/** The user's settings that a command needs. `backends`: name → how it is run, as the leader reads it. Source: interfaces 5. */
export interface Config {
  readonly backends?: Readonly<Record<string, unknown>>
  readonly defaultBackend?: string
}

/** The settings as they were given, and the file they are from. */
export interface ConfigFile {
  readonly path: string
  readonly given: GivenSettings
}

/** The backend of a session for which none is named and none is configured. */
export const FALLBACK_BACKEND = 'scripted'

type Asking = Pick<CommandContext, 'notices' | 'surroundings'>

/** Reads the user's settings; a missing file is empty ones. Unknown keys are named on stderr, a broken file is a usage error. */
export async function readConfig(context: Asking): Promise<Config> {
  const { given } = await readConfigFile(context)
  const { backends, defaultBackend } = given.values
  return {
    ...(backends === undefined ? {} : { backends: backends.value as Record<string, unknown> }),
    ...(defaultBackend === undefined ? {} : { defaultBackend: defaultBackend.value as string }),
  }
}

/**
 * The settings with their places in the file. Of what is wrong, only what keeps the file or the backends from being read is a failure; the rest
 * is named on stderr. Source: experience 4.5.
 */
export async function readConfigFile({ notices, surroundings }: Asking): Promise<ConfigFile> {
  const path = placesHere(surroundings.env).configFile
  const { readSettingsText } = await import('../../settings/settings-text.ts')
  const read = await readSettingsText(path, LIMITS.configBytes)
  if (read.kind === 'unreadable') throw broken(path, read.message)
  const { readSettings } = await import('../../settings/read-settings.ts')
  const given = readSettings(read.kind === 'text' ? read.text : '')
  for (const { kind, name, line, column, message } of given.faults) {
    if (kind === 'broken' || name === 'backends' || name === 'defaultBackend') {
      throw broken(path, `line ${line}, column ${column}: ${message}`)
    }
    notices.notice(`${path}:${line}:${column}: ${message}`)
  }
  return { path, given }
}

function broken(path: string, why: string): CliFailure {
  return new CliFailure('usage', `The configuration ${path} cannot be used: ${why}.`, { next: 'mend that file' })
}
