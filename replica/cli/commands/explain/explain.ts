import { ERRORS, type ErrorCode, EXIT_CODES, type RetryClass } from '../../../../schema/errors.ts'
import { CLOSE_CODES, type CloseName, closeReaction } from '../../../../schema/wire/close-codes.ts'
import { commandText } from '../../../view/command-text.ts'
import { nearest } from '../../../view/nearest.ts'
import type { CommandBody } from '../../context.ts'
import { usage } from '../../failure.ts'
import { renderFields } from '../../output/fields.ts'
import { CLOSE_ADVICE, CLOSE_MEANINGS, REACTION_WORDS } from './close-words.ts'
import { ERROR_ADVICE, RETRY_WORDS } from './error-words.ts'
import { EXIT_ADVICE, EXIT_MEANINGS, type ExitName } from './exit-words.ts'
import { FAULT_WORDS } from './fault-words.ts'

/** What a code means; a word may be several things at once. `retry` is of errors, `reaction` of closes. */
interface Explanation {
  readonly what: 'error' | 'exit code' | 'close code' | 'fault'
  readonly code: string
  readonly number: number | null
  readonly meaning: string
  readonly retry: RetryClass | null
  readonly reaction: ReturnType<typeof closeReaction> | null
  readonly exitCode: number | null
  readonly next: string | null
}

/** Everything that `explain` knows: names, and numbers where they have them. */
export function explainable(): readonly string[] {
  return [
    ...new Set([
      ...Object.keys(ERRORS),
      ...Object.keys(EXIT_CODES),
      ...Object.keys(CLOSE_CODES),
      ...Object.keys(FAULT_WORDS),
    ]),
  ]
}

/** `headwater explain`: what a code means and what to do about it. Source: experience 3.1. */
export const body: CommandBody = async (context, { args: [typed = ''] }) => {
  const found = explain(typed.toLowerCase())
  if (found.length === 0) throw unknown(typed)
  const { out, flags } = context
  const text = found.map(each => renderFields(out, fieldsOf(each, flags))).join('\n')
  return { result: { explanations: found }, text }
}

function explain(typed: string): readonly Explanation[] {
  const isNamed = (name: string, number: number | null): boolean => name === typed || String(number) === typed
  return [
    ...keysOf(ERRORS).flatMap(code => (isNamed(code, null) ? [ofError(code)] : [])),
    ...keysOf(EXIT_CODES).flatMap(name => (isNamed(name, EXIT_CODES[name]) ? [ofExit(name)] : [])),
    ...keysOf(CLOSE_CODES).flatMap(name => (isNamed(name, CLOSE_CODES[name]) ? [ofClose(name)] : [])),
    ...Object.keys(FAULT_WORDS).flatMap(kind => (isNamed(kind, null) ? [ofFault(kind)] : [])),
  ]
}

const EMPTY = { number: null, retry: null, reaction: null, exitCode: null, next: null }

function ofError(code: ErrorCode): Explanation {
  const { meaning, retry, exit } = ERRORS[code]
  return { ...EMPTY, what: 'error', code, meaning, retry, exitCode: exit, next: ERROR_ADVICE[code] }
}

function ofExit(name: ExitName): Explanation {
  const number = EXIT_CODES[name]
  return {
    ...EMPTY,
    what: 'exit code',
    code: name,
    number,
    meaning: EXIT_MEANINGS[name],
    exitCode: number,
    next: EXIT_ADVICE[name],
  }
}

function ofClose(name: CloseName): Explanation {
  const number = CLOSE_CODES[name]
  const next = CLOSE_ADVICE[name] ?? null
  return {
    ...EMPTY,
    what: 'close code',
    code: name,
    number,
    meaning: CLOSE_MEANINGS[name],
    reaction: closeReaction(number),
    next,
  }
}

function ofFault(kind: string): Explanation {
  const { meaning, next } = FAULT_WORDS[kind] as (typeof FAULT_WORDS)[string]
  return { ...EMPTY, what: 'fault', code: kind, meaning, next }
}

function fieldsOf(
  found: Explanation,
  place: Parameters<typeof commandText>[1],
): readonly (readonly [string, string])[] {
  const { what, code, number, meaning, retry, reaction, exitCode, next } = found
  return [
    [what, number === null ? code : `${number} ${code}`],
    ['meaning', commandText(meaning, place)],
    ...(retry === null ? [] : [['retry', `${retry}: ${RETRY_WORDS[retry]}`] as const]),
    ...(reaction === null ? [] : [['replica', REACTION_WORDS[reaction]] as const]),
    ...(exitCode === null || number !== null ? [] : [['exit', String(exitCode)] as const]),
    ...(next === null ? [] : [['next', commandText(next, place)] as const]),
  ]
}

function unknown(typed: string): Error {
  const near = nearest(typed, explainable(), 3)
  const hint = near.length === 0 ? '' : `; did you mean ${near.join(', ')}?`
  return usage(`there is no code '${typed}'${hint}`, 'headwater explain session_busy')
}

function keysOf<T extends object>(table: T): readonly (keyof T & string)[] {
  return Object.keys(table) as (keyof T & string)[]
}
