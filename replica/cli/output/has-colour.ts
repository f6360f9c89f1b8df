/** What decides over colours on one stream, strongest first. Source: experience 4.4. */
export interface ColourFacts {
  readonly flag: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  readonly isTerminal: boolean
}

/** True if colours are wanted: `--color` › `NO_COLOR` › `FORCE_COLOR`, `CLICOLOR_FORCE` › `TERM=dumb` › is it a terminal. */
export function hasColour({ flag, env, isTerminal }: ColourFacts): boolean {
  if (flag === 'always' || flag === 'never') return flag === 'always'
  if (isSet(env.NO_COLOR)) return false
  for (const forced of [env.FORCE_COLOR, env.CLICOLOR_FORCE])
    if (isSet(forced)) return forced !== '0' && forced !== 'false'
  return env.TERM === 'dumb' ? false : isTerminal
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== ''
}
