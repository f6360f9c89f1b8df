/** A setting of `config.jsonc`: what its value may be, what it is where none is given, and when a change counts. */
export type Setting = {
  readonly meaning: string
  readonly counts: 'at once' | 'after a restart'
} & (
  | { readonly kind: 'choice'; readonly choices: readonly [string, ...string[]]; readonly fallback: string }
  | { readonly kind: 'flag'; readonly fallback: boolean }
  | { readonly kind: 'text'; readonly fallback: string }
  | { readonly kind: 'object'; readonly fallback: null }
)

/**
 * Every setting, under the name it has in the docs: `a.b` is `{ "a": { "b": … } }`. The leader reads `backends`; what it does not know it leaves
 * alone, as replicas do with what is its own. Source: experience 4.5, 6.2, 6.6.
 */
export const SETTINGS = {
  backends: {
    kind: 'object',
    fallback: null,
    counts: 'after a restart',
    meaning: 'the agents by name: {"NAME": {"acp": ["command", "argument"], "env": {}}}',
  },
  defaultBackend: {
    kind: 'text',
    fallback: 'scripted',
    counts: 'at once',
    meaning: 'what executes a new session for which nothing else is named',
  },
  'composer.enterWhileRunning': {
    kind: 'choice',
    choices: ['follow_up', 'steering'],
    fallback: 'follow_up',
    counts: 'after a restart',
    meaning: 'what Enter does while a turn runs; the other one moves to the other key',
  },
  'interrupt.confirm': {
    kind: 'flag',
    fallback: false,
    counts: 'after a restart',
    meaning: 'ask before a running turn is stopped',
  },
  'tui.notifications': {
    kind: 'choice',
    choices: ['unfocused', 'always', 'never'],
    fallback: 'unfocused',
    counts: 'after a restart',
    meaning: 'when the terminal tells that something waits',
  },
  'tui.mouse': { kind: 'flag', fallback: false, counts: 'after a restart', meaning: 'scroll with the wheel' },
  'tui.title': { kind: 'flag', fallback: true, counts: 'after a restart', meaning: 'give the terminal a title' },
  'tui.theme': { kind: 'text', fallback: 'terminal', counts: 'after a restart', meaning: 'the looks' },
} as const satisfies Readonly<Record<string, Setting>>

/** The name of a setting. */
export type SettingName = keyof typeof SETTINGS

/** The names of all settings, in the order of the table. */
export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[]

/** A setting of the table. */
export function settingOf(name: SettingName): Setting {
  return SETTINGS[name]
}

/** What is wrong with a value, or undefined for one that fits. */
export function misfit(name: SettingName, value: unknown): string | undefined {
  const setting = settingOf(name)
  switch (setting.kind) {
    case 'choice':
      return setting.choices.includes(value as string) ? undefined : `"${name}" is one of ${setting.choices.join(', ')}`
    case 'flag':
      return typeof value === 'boolean' ? undefined : `"${name}" must be true or false`
    case 'text':
      return typeof value === 'string' ? undefined : `"${name}" must be a string`
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value)
        ? undefined
        : `"${name}" must be an object`
    default:
      return setting satisfies never
  }
}
