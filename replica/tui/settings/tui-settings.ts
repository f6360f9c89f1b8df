import { LIMITS } from '../../../schema/limits.ts'
import { type GivenSettings, readSettings } from '../../settings/read-settings.ts'
import { SETTINGS, type SettingName } from '../../settings/setting-table.ts'
import { readSettingsText } from '../../settings/settings-text.ts'
import { nearest } from '../../view/nearest.ts'
import type { TuiSettings } from '../options.ts'
import { THEMES } from '../text/theme.ts'

/** The settings of the terminal replica; what cannot be used is named in a sentence and stands at its default. */
export interface ReadTuiSettings {
  readonly settings: TuiSettings
  readonly problems: readonly string[]
}

/**
 * Reads `config.jsonc` for the terminal replica: a file that is not there or broken gives the defaults. `$HEADWATER_THEME` goes before the file.
 * Never throws. Source: experience 4.4, 4.5, 6.2, 6.6.
 */
export async function readTuiSettings(
  path: string,
  env: Readonly<Record<string, string | undefined>> = {},
): Promise<ReadTuiSettings> {
  const read = await readSettingsText(path, LIMITS.configBytes)
  if (read.kind === 'unreadable') return withTheme({ values: {}, faults: [] }, env, [`config.jsonc: ${read.message}`])
  const given = readSettings(read.kind === 'text' ? read.text : '')
  const problems = given.faults.map(({ line, column, message }) => `config.jsonc:${line}:${column}: ${message}`)
  return withTheme(given, env, problems)
}

function withTheme(
  { values }: GivenSettings,
  env: Readonly<Record<string, string | undefined>>,
  problems: readonly string[],
): ReadTuiSettings {
  const value = <N extends SettingName>(name: N): unknown => values[name]?.value ?? SETTINGS[name].fallback
  const wanted =
    env.HEADWATER_THEME !== undefined && env.HEADWATER_THEME !== '' ? env.HEADWATER_THEME : value('tui.theme')
  const hasTheme = typeof wanted === 'string' && Object.hasOwn(THEMES, wanted)
  return {
    settings: {
      enterWhileRunning: value('composer.enterWhileRunning') as TuiSettings['enterWhileRunning'],
      confirmInterrupt: value('interrupt.confirm') as boolean,
      notifications: value('tui.notifications') as TuiSettings['notifications'],
      hasMouse: value('tui.mouse') as boolean,
      setsTitle: value('tui.title') as boolean,
      theme: hasTheme ? wanted : SETTINGS['tui.theme'].fallback,
    },
    problems: hasTheme ? problems : [...problems, noTheme(String(wanted))],
  }
}

function noTheme(wanted: string): string {
  const [near] = nearest(wanted, Object.keys(THEMES))
  return `there is no theme "${wanted}"${near === undefined ? '' : `; did you mean "${near}"?`}`
}
