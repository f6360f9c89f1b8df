import type { ToolEntry, TranscriptEntry } from '../../../schema/entities/transcript.ts'
import type { TurnSnapshot } from '../../../schema/entities/turn.ts'
import { optionLines, outcomeLine, titleWithKind } from '../../view/interaction-words.ts'
import { surfaceWords, toolWords } from '../../view/words.ts'
import { turnLine } from './turn-end.ts'

/**
 * Entries as people read them: a blank line between them, pieces of one message joined. `turns`: how the turns stand; behind the last entry
 * of one that ended otherwise than completed stands how.
 */
export function formatEntries(entries: readonly TranscriptEntry[], turns: readonly TurnSnapshot[]): string {
  const ends = new Map(turns.map(turn => [turn.turnId, endLine(turn)]))
  let text = ''
  for (const [i, entry] of entries.entries()) {
    const last = entries[i - 1]
    text += last !== undefined && isSameMessage(last, entry) ? entryText(entry) : `${gap(last)}${formatEntry(entry)}`
    if (entries[i + 1]?.turnId !== entry.turnId) text += ends.get(entry.turnId) ?? ''
  }
  return text
}

const gap = (last: TranscriptEntry | undefined): string => (last === undefined ? '' : '\n\n')

function endLine(turn: TurnSnapshot): string {
  return turn.status === 'failed' || turn.status === 'cancelled' ? `\n\n— ${turnLine(turn)}` : ''
}

function isSameMessage(a: TranscriptEntry, b: TranscriptEntry): boolean {
  return 'messageId' in a && 'messageId' in b && a.messageId === b.messageId
}

function entryText(entry: TranscriptEntry): string {
  return 'text' in entry ? entry.text : ''
}

/** One entry; the first characters say who speaks: › a person, nothing the assistant, ~ its thoughts, · a tool, ? a question. */
export function formatEntry(entry: TranscriptEntry): string {
  switch (entry.kind) {
    case 'user':
      return indented(entry.isSteering ? '» ' : '› ', entry.content.displayText ?? entry.content.text)
    case 'assistant':
      return entry.text
    case 'thinking':
      return `${THINKING_MARK}${entry.text}`
    case 'notice':
      return indented('! ', entry.text)
    case 'plan':
      return indented(
        '# ',
        entry.by === undefined ? entry.text : `${entry.text} (from ${surfaceWords(entry.by.surface)})`,
      )
    case 'tool':
      return toolLine(entry)
    case 'interaction':
      return indented('? ', [...optionLines(entry.request), outcomeLine(entry.outcome, entry.request)].join('\n'))
    default:
      return entry satisfies never
  }
}

/** What stands before the assistant's thoughts. */
export const THINKING_MARK = '~ '

/** A tool call in one line. */
export function toolLine({ name, title, status }: Pick<ToolEntry, 'name' | 'title' | 'status'>): string {
  return indented('· ', `${titleWithKind(name, title)}  [${toolWords(status)}]`)
}

function indented(mark: string, text: string): string {
  return `${mark}${text.trimEnd().replaceAll('\n', '\n  ')}`
}
