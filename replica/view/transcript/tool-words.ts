import type { ArtifactReference, ToolEntry, ToolText } from '../../../schema/entities/transcript.ts'
import { byteText } from '../byte-text.ts'
import { titleWithKind } from '../interaction-words.ts'
import { clockWords } from '../time-words.ts'
import { toolWords } from '../words.ts'

/** Members of an input that say what a call is about, the most telling first. */
const SUBJECTS = ['command', 'cmd', 'pattern', 'query', 'path', 'file_path', 'filePath', 'file', 'url'] as const
/** An input over this is not searched for what it is about. Unit: UTF-16 units. */
const SEARCHED_CHARS = 8_192
/** Shorter calls do not say how long they took. Unit: ms. */
const WORTH_TELLING_MS = 1_000
const DIGEST_CHARS = 19

/** A call in one line: kind, title and, where they do not say it, what it is about. */
export function toolTitle({ name, title, input }: Pick<ToolEntry, 'name' | 'title' | 'input'>): string {
  const said = titleWithKind(name, title)
  const subject = subjectOf(input)
  return subject === '' || said.includes(subject) ? said : `${said}: ${subject}`
}

/** How a call stands, then how long it took and how much it gave: `completed · 0:12 · 34 lines`. */
export function toolStateWords({ status, at, endedAt, output }: ToolEntry): string {
  const took = endedAt === undefined ? 0 : endedAt - at
  return [
    toolWords(status),
    ...(took >= WORTH_TELLING_MS ? [clockWords(took)] : []),
    ...(output === null || output === '' ? [] : [amountWords(output)]),
  ].join(' · ')
}

/** A stored text by name: `1.2 MiB kept as sha256:0123456789ab…`. */
export function artifactWords({ artifact, bytes }: ArtifactReference): string {
  return `${byteText(bytes)} kept as ${artifact.slice(0, DIGEST_CHARS)}…`
}

/** An input or output as text; of a stored one its beginning. */
export function toolTextOf(text: ToolText | null): string {
  return text === null ? '' : typeof text === 'string' ? text : text.preview
}

/** An input for people: the members of a JSON object, one a line; anything else as it is. */
export function inputText(input: ToolText | null): string {
  const members = membersOf(input)
  if (members === null) return toolTextOf(input)
  return Object.entries(members)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('\n')
}

function amountWords(output: ToolText): string {
  if (typeof output !== 'string') return byteText(output.bytes)
  const lines = output.trimEnd().split('\n').length
  return lines === 1 ? '1 line' : `${lines} lines`
}

function subjectOf(input: ToolText | null): string {
  if (typeof input !== 'string' || input.length > SEARCHED_CHARS) return ''
  const members = membersOf(input) ?? {}
  const name = SUBJECTS.find(each => typeof members[each] === 'string')
  return name === undefined ? '' : String(members[name])
}

function membersOf(input: ToolText | null): Readonly<Record<string, unknown>> | null {
  if (typeof input !== 'string' || !input.startsWith('{')) return null
  try {
    const value: unknown = JSON.parse(input)
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : null
  } catch {
    return null
  }
}
