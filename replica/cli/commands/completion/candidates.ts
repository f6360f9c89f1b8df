import type { CommandSpec, OptionSpec } from '../../context.ts'
import { COMMANDS, GLOBAL_OPTIONS } from '../../program.ts'

/** Something that may stand in the place of a word, with a few words about it. */
export interface Candidate {
  readonly value: string
  readonly about: string
}

/** What kind of word stands somewhere: candidates that are known, or what only the copies of sessions tell, or a path. */
export type Place =
  | { readonly kind: 'known'; readonly candidates: readonly Candidate[] }
  | { readonly kind: 'session' | 'topic' | 'code' | 'path' | 'anything' }

/** What was typed before the word that is completed: where its leader or root is, for the copies. */
export interface TypedPlace {
  readonly root?: string
  readonly url?: string
}

const NOTHING: Place = { kind: 'anything' }

/**
 * What may stand in the place of the last word, from the table of commands alone. The words are those after the program's name.
 * Source: experience 3.1.
 */
export function placeOf(words: readonly string[]): Place {
  const current = words.at(-1) ?? ''
  const before = words.slice(0, -1)
  const read = readWords(before)
  if (read.awaits !== undefined) return placeOfValue(read.awaits)
  if (!read.isEnded && current.startsWith('-')) return optionsPlace(read.spec, current)
  if (read.spec !== undefined) return placeOfArgument(read.spec, read.positions)
  return { kind: 'known', candidates: commandsAfter(read.group) }
}

/** The root or the leader that the words name. */
export function typedPlace(words: readonly string[]): TypedPlace {
  const found: { root?: string; url?: string } = {}
  for (const name of ['root', 'url'] as const) {
    const flag = `--${name}`
    const at = words.lastIndexOf(flag)
    const joined = words.find(word => word.startsWith(`${flag}=`))
    const value = joined?.slice(flag.length + 1) ?? (at === -1 ? undefined : words[at + 1])
    if (value !== undefined && value !== '') found[name] = value
  }
  return found
}

interface ReadWords {
  readonly spec: CommandSpec | undefined
  /** The first word of a command of two. */
  readonly group: string | undefined
  /** Arguments that are there already. */
  readonly positions: readonly string[]
  /** The option whose value comes next. */
  readonly awaits: OptionSpec | undefined
  /** After `--` nothing is an option. */
  readonly isEnded: boolean
}

function readWords(words: readonly string[]): ReadWords {
  const read: { -readonly [K in keyof ReadWords]: ReadWords[K] } = {
    spec: undefined,
    group: undefined,
    positions: [],
    awaits: undefined,
    isEnded: false,
  }
  for (const word of words) {
    if (read.awaits !== undefined) read.awaits = undefined
    else if (!read.isEnded && word === '--') read.isEnded = true
    else if (!read.isEnded && word.startsWith('-')) read.awaits = awaiting(read.spec, word)
    else if (read.spec !== undefined) read.positions = [...read.positions, word]
    else {
      const name = read.group === undefined ? word : `${read.group} ${word}`
      read.spec = COMMANDS.find(spec => spec.name === name)
      if (read.spec === undefined) read.group = word
    }
  }
  return read
}

function optionsOf(spec: CommandSpec | undefined): readonly OptionSpec[] {
  return [...(spec?.options ?? []), ...GLOBAL_OPTIONS].filter(({ isHidden }) => isHidden !== true)
}

/** `-s, --session <id>` as its names and what its value is called. */
function readFlags(flags: string): { readonly names: readonly string[]; readonly value: string | undefined } {
  const [, value] = /<([^>]+)>/.exec(flags) ?? []
  return { names: flags.match(/--?[a-z][a-z-]*/g) ?? [], value: value?.replace('...', '') }
}

/** The option that a word names, if its value is the next word. */
function awaiting(spec: CommandSpec | undefined, word: string): OptionSpec | undefined {
  if (word.includes('=')) return undefined
  return optionsOf(spec).find(({ flags }) => {
    const { names, value } = readFlags(flags)
    return value !== undefined && names.includes(word)
  })
}

function optionsPlace(spec: CommandSpec | undefined, current: string): Place {
  const [, name] = /^(--[a-z-]+)=/.exec(current) ?? []
  if (name !== undefined) {
    const option = awaiting(spec, name)
    if (option === undefined) return NOTHING
    const place = placeOfValue(option)
    if (place.kind !== 'known') return NOTHING
    return { kind: 'known', candidates: place.candidates.map(each => ({ ...each, value: `${name}=${each.value}` })) }
  }
  const candidates = optionsOf(spec).flatMap(({ flags, description }) =>
    readFlags(flags).names.map(value => ({ value, about: description })),
  )
  return { kind: 'known', candidates: [...candidates, { value: '--help', about: 'print help' }] }
}

function placeOfValue({ flags, value }: OptionSpec): Place {
  if (Array.isArray(value)) return { kind: 'known', candidates: value.map(each => ({ value: each, about: '' })) }
  const { names, value: name = '' } = readFlags(flags)
  if (names.includes('--session') || names.includes('--repair')) return { kind: 'session' }
  return /^(?:dir|file)$/.test(name) ? { kind: 'path' } : NOTHING
}

function placeOfArgument(spec: CommandSpec, positions: readonly string[]): Place {
  const names = [...spec.args.matchAll(/[<[]([a-z]+)(?:\.\.\.)?[>\]]/g)].map(([, name]) => name as string)
  const name = names[Math.min(positions.length, names.length - 1)]
  switch (positions.length < names.length || spec.args.includes('...') ? name : undefined) {
    case 'id':
      return { kind: 'session' }
    case 'verb':
    case 'shell':
      return { kind: 'known', candidates: verbsOf(spec) }
    case 'topic':
      return positions.length === 0 ? { kind: 'topic' } : { kind: 'known', candidates: commandsAfter(positions[0]) }
    case 'code':
      return { kind: 'code' }
    case 'dir':
    case 'file':
      return { kind: 'path' }
    default:
      return NOTHING
  }
}

/** The verbs that the help of a command lists, one a line. */
function verbsOf({ details = '' }: CommandSpec): readonly Candidate[] {
  const listed = [...details.matchAll(/^ {2}([a-z][a-z-]*)(.*)$/gm)]
  if (listed.length > 0) {
    return listed.map(([, value = '', rest = '']) => ({ value, about: rest.split(/ {2,}/).at(-1)?.trim() ?? '' }))
  }
  const [, only] = /^VERB is ([a-z]+)/.exec(details) ?? []
  return only === undefined ? [] : [{ value: only, about: '' }]
}

/** The commands, or those that begin with a word. */
export function commandsAfter(group: string | undefined): readonly Candidate[] {
  const shown = COMMANDS.filter(({ isHidden }) => isHidden !== true)
  if (group !== undefined) {
    const inside = shown.filter(({ name }) => name.startsWith(`${group} `))
    return inside.map(({ name, summary }) => ({ value: name.slice(group.length + 1), about: summary }))
  }
  const first = new Map<string, string>()
  for (const { name, summary } of shown) {
    const [word = '', second] = name.split(' ')
    if (!first.has(word)) first.set(word, second === undefined ? summary : `${word} …`)
  }
  return [...first].map(([value, about]) => ({ value, about }))
}
