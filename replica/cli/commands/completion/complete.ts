import { LIMITS } from '../../../../schema/limits.ts'
import { titleOf } from '../../../view/session-list.ts'
import { terminalLine } from '../../../view/terminal-text.ts'
import type { CommandBody, CommandContext } from '../../context.ts'
import { openCopiesHere } from '../../reach/copies.ts'
import { type Candidate, commandsAfter, type Place, placeOf, typedPlace } from './candidates.ts'

/** What a shell takes for one plain word; another id could mean something to it. */
const PLAIN = /^[\w.:=/@+-]+$/

/**
 * `headwater complete -- WORDS`: one candidate a line, with a tab and a word about it; the shell takes a path where there is none. No leader is asked
 * or started, and nothing that goes wrong is told: it would stand in the middle of what is typed. Source: experience 3.1.
 */
export const body: CommandBody = async (context, { args }) => {
  const current = args.at(-1) ?? ''
  const found = await candidatesAt(context, args).catch(() => [])
  const candidates = found
    .filter(({ value }) => value.startsWith(current) && PLAIN.test(value))
    .slice(0, LIMITS.completions)
    .map(({ value, about }) => ({ value, about: terminalLine(about).trim() }))
  return { result: { candidates }, text: candidates.map(({ value, about }) => `${value}\t${about}\n`).join('') }
}

async function candidatesAt(context: CommandContext, words: readonly string[]): Promise<readonly Candidate[]> {
  const place: Place = placeOf(words)
  switch (place.kind) {
    case 'known':
      return place.candidates
    case 'session':
      return sessions(context, words)
    case 'topic':
      return [...commandsAfter(undefined), { value: 'exit-codes', about: '' }, { value: 'keys', about: '' }]
    case 'code': {
      const { explainable } = await import('../explain/explain.ts')
      return explainable().map(value => ({ value, about: '' }))
    }
    case 'path':
    case 'anything':
      return []
    default:
      return place satisfies never
  }
}

/** The sessions that were seen here, the most recent first. */
async function sessions(context: CommandContext, words: readonly string[]): Promise<readonly Candidate[]> {
  const { root: _root, url: _url, ...flags } = context.flags
  const typed = typedPlace(words)
  const reader = await openCopiesHere({ ...context, flags: { ...flags, ...typed } })
  const rows = await reader.catalog()
  return rows.filter(({ isArchived }) => !isArchived).map(row => ({ value: row.sessionId, about: titleOf(row) }))
}
