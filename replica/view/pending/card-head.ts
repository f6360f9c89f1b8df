import type { InteractionRequest } from '../../../schema/entities/interaction.ts'
import type { ArtifactReference, ToolEntry, ToolText, TranscriptEntry } from '../../../schema/entities/transcript.ts'
import { titleWithKind } from '../interaction-words.ts'
import type { Card } from './deck.ts'
import { isReview } from './question-fill.ts'
import { visibleText } from './visible-text.ts'

/** A part of what is asked, with nothing of it hidden. */
export interface HeadPart {
  readonly text: string
  readonly kind: 'asked' | 'code' | 'note'
}

/** All that is asked, before what can be answered. `missing`: texts of which only the beginning is here. */
export interface CardHead {
  readonly parts: readonly HeadPart[]
  readonly missing: readonly ArtifactReference[]
}

/** What is asked on a card: for a permission with what the call would do. `whole` are stored texts that were read, by name. Source: experience 6.3. */
export function cardHead(
  { interaction, fill }: Card,
  entries: readonly TranscriptEntry[],
  whole: ReadonlyMap<string, string> = NONE,
): CardHead {
  const { request } = interaction
  switch (request.kind) {
    case 'question': {
      if (fill.kind !== 'question' || isReview(fill)) return { parts: [], missing: [] }
      const question = request.questions[fill.step]
      const notes = [
        question?.multiple === true ? 'several may be chosen' : '',
        question?.allowText === true && question.options.length > 0 ? 'or in your own words' : '',
      ].filter(Boolean)
      return {
        parts: shown([
          { text: question?.question ?? '', kind: 'asked' },
          { text: notes.join(', '), kind: 'note' },
        ]),
        missing: [],
      }
    }
    case 'permission':
      return permissionHead(request, toolOf(request, entries, interaction), whole)
    case 'form':
      return {
        parts: shown([
          { text: request.title ?? '', kind: 'asked' },
          { text: request.message ?? '', kind: request.title === undefined ? 'asked' : 'note' },
        ]),
        missing: [],
      }
    default:
      return request satisfies never
  }
}

type Permission = Extract<InteractionRequest, { kind: 'permission' }>

const NONE: ReadonlyMap<string, string> = new Map()

function permissionHead(request: Permission, tool: ToolEntry | null, whole: ReadonlyMap<string, string>): CardHead {
  const texts = tool === null ? [] : [tool.input, ...(tool.endedAt === undefined ? [tool.output] : [])]
  const title = titleWithKind(request.toolKind, request.title)
  return {
    parts: shown([
      { text: title, kind: 'asked' },
      ...texts.map((text): HeadPart => ({ text: detailText(text, whole), kind: 'code' })),
    ]),
    missing: texts.filter(isStored).filter(({ artifact }) => !whole.has(artifact)),
  }
}

/** The call that the permission is about: the newest of that name in its run. */
function toolOf(
  { toolCallId }: Permission,
  entries: readonly TranscriptEntry[],
  { runId }: Card['interaction'],
): ToolEntry | null {
  const found = entries.findLast(
    entry => entry.kind === 'tool' && entry.toolCallId === toolCallId && entry.runId === runId,
  )
  return found?.kind === 'tool' ? found : null
}

function isStored(text: ToolText | null): text is ArtifactReference {
  return text !== null && typeof text !== 'string'
}

/** A text as it is; the members of a JSON object one by one, lines that go on are indented, so that a value cannot look like another member. */
function detailText(text: ToolText | null, whole: ReadonlyMap<string, string>): string {
  const raw = text === null ? '' : typeof text === 'string' ? text : (whole.get(text.artifact) ?? text.preview)
  if (!raw.startsWith('{')) return raw
  const members = membersOf(raw)
  if (members === null) return raw
  return Object.entries(members)
    .map(
      ([name, value]) =>
        `${indentedRest(name)}: ${indentedRest(typeof value === 'string' ? value : JSON.stringify(value))}`,
    )
    .join('\n')
}

function indentedRest(text: string): string {
  return text.replaceAll('\n', '\n  ')
}

function membersOf(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : null
  } catch {
    return null
  }
}

function shown(parts: readonly HeadPart[]): HeadPart[] {
  return parts.filter(({ text }) => text !== '').map(({ text, kind }) => ({ text: visibleText(text), kind }))
}
