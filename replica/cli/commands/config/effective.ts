import { SETTING_NAMES, type SettingName, settingOf } from '../../../settings/setting-table.ts'
import { keymapPath } from '../../../tui/settings/keymap-file.ts'
import type { CommandContext } from '../../context.ts'
import type { ConfigFile } from '../../input/config.ts'
import { hasColour } from '../../output/has-colour.ts'
import { chosenRoot, placesHere } from '../../reach/here.ts'

/** Where a value comes from. */
export type Origin =
  | { readonly kind: 'flag' | 'env'; readonly name: string }
  | { readonly kind: 'file'; readonly path: string; readonly line: number; readonly column: number }
  | { readonly kind: 'default' }

/** A value that is in force. */
export interface EffectiveValue {
  readonly name: string
  readonly value: unknown
  readonly origin: Origin
}

type Env = CommandContext['surroundings']['env']

const DEFAULT: Origin = { kind: 'default' }

/** What flags and environment decide: where things are, and how a command behaves. Source: experience 4.4, 4.5. */
export function effectivePlaces({ flags, surroundings, out }: CommandContext): readonly EffectiveValue[] {
  const { env } = surroundings
  const places = placesHere(env)
  return [
    {
      name: 'root',
      value: chosenRoot(flags, surroundings),
      origin: first([flagOf('--root', flags.root), envOf(env, 'HEADWATER_ROOT'), folderOf(env, 'XDG_DATA_HOME')]),
    },
    { name: 'url', value: flags.url ?? null, origin: first([flagOf('--url', flags.url)]) },
    {
      name: 'tokenFile',
      value: env.HEADWATER_TOKEN_FILE || null,
      origin: first([envOf(env, 'HEADWATER_TOKEN_FILE')]),
    },
    { name: 'timeoutMs', value: flags.timeoutMs ?? null, origin: first([flagOf('--timeout', flags.timeoutMs)]) },
    {
      name: 'color',
      value: hasColour({ flag: flags.color, env, isTerminal: out.isTerminal }),
      origin: colourOrigin(flags.color, env),
    },
    {
      name: 'input',
      value: flags.input && !isCi(env),
      origin: first([flagOf('--no-input', flags.input ? undefined : true), isCi(env) && envOf(env, 'CI')]),
    },
    {
      name: 'keymap',
      value: keymapPath(places.config, env),
      origin: first([envOf(env, 'HEADWATER_KEYMAP'), folderOf(env, 'XDG_CONFIG_HOME')]),
    },
    { name: 'cache', value: places.cache, origin: first([folderOf(env, 'XDG_CACHE_HOME')]) },
    { name: 'state', value: places.state, origin: first([folderOf(env, 'XDG_STATE_HOME')]) },
    {
      name: 'runtime',
      value: places.runtime,
      origin: first([folderOf(env, 'XDG_RUNTIME_DIR'), folderOf(env, 'XDG_STATE_HOME')]),
    },
  ]
}

/** The settings of `config.jsonc`, or what goes before them. Source: experience 4.5. */
export function effectiveSettings({ path, given }: ConfigFile, env: Env): readonly EffectiveValue[] {
  return SETTING_NAMES.map(name => {
    const theme = name === 'tui.theme' && envOf(env, 'HEADWATER_THEME')
    if (theme) return { name, value: env.HEADWATER_THEME, origin: theme }
    const found = given.values[name]
    if (found === undefined) return { name, value: settingOf(name).fallback, origin: DEFAULT }
    const { value, line, column } = found
    return { name, value: shownValue(name, value), origin: { kind: 'file', path, line, column } as const }
  })
}

/** Of the backends only their names: what their environment gets may be secret. */
function shownValue(name: SettingName, value: unknown): unknown {
  return name === 'backends' ? Object.keys(value as object) : value
}

function first(origins: readonly (Origin | false)[]): Origin {
  return origins.find(origin => origin !== false) || DEFAULT
}

function flagOf(name: string, value: unknown): Origin | false {
  return value !== undefined && { kind: 'flag', name }
}

function envOf(env: Env, name: string): Origin | false {
  return isSet(env[name]) && { kind: 'env', name }
}

/** A relative path in one of these variables is passed over. */
function folderOf(env: Env, name: string): Origin | false {
  return env[name]?.startsWith('/') === true && { kind: 'env', name }
}

function colourOrigin(flag: string, env: Env): Origin {
  const decided = ['NO_COLOR', 'FORCE_COLOR', 'CLICOLOR_FORCE'].map(name => envOf(env, name))
  const dumb = env.TERM === 'dumb' && envOf(env, 'TERM')
  return first([flag !== 'auto' && flagOf('--color', flag), ...decided, dumb])
}

function isCi({ CI }: Env): boolean {
  return isSet(CI) && CI !== 'false'
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== ''
}
