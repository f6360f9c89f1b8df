import type { Attachment, Content } from '../../../schema/entities/content.ts'
import { byteText } from '../byte-text.ts'
import { optionLines, outcomeLine, summaryOf } from '../interaction-words.ts'
import { terminalText } from '../terminal-text.ts'
import { surfaceWords } from '../words.ts'
import type { TranscriptRow } from './row.ts'
import { artifactWords, inputText, toolStateWords, toolTextOf, toolTitle } from './tool-words.ts'
import { beginningWords, brokenWords, nextWords, outcomeWords } from './turn-words.ts'

/** A row in words alone, for the linear mode: what it is, then what it says. Inputs and outputs of tools are left out. Source: Z6. */
export function rowText(row: TranscriptRow): string {
  return terminalText(spoken(row))
}

/** All that a row says, as far as it is here: what search looks through and what is copied. Source: Z6. */
export function wholeText(row: TranscriptRow): string {
  return terminalText(whole(row))
}

/** A file by name and size: `shot.png, 34 KiB`. */
export function attachmentWords({ kind, name, bytes }: Attachment): string {
  return `${kind}: ${name}, ${byteText(bytes)}`
}

function spoken(row: TranscriptRow): string {
  switch (row.kind) {
    case 'turn':
      return ['Turn', beginningWords(row), outcomeWords(row)].filter(Boolean).join(' · ')
    case 'user': {
      const how = row.entry.isSteering === true ? 'Steering message' : 'Message'
      return `${how}${row.by === null ? '' : ` from ${row.by}`}: ${contentText(row.entry.content)}`
    }
    case 'assistant':
      return whole(row)
    case 'thinking':
      return `Thought: ${whole(row)}`
    case 'tool':
      return `Tool: ${toolTitle(row.entry)} · ${toolStateWords(row.entry)}`
    case 'interaction':
      return `Asked: ${summaryOf(row.entry.request)}\n${outcomeLine(row.entry.outcome, row.entry.request)}`
    case 'plan':
    case 'notice':
      return `${row.kind === 'plan' ? 'Plan' : 'Notice'}: ${whole(row)}`
    case 'end':
      return `Turn ${brokenWords(row.turn)}\n${nextWords(row.turn)}`
    default:
      return row satisfies never
  }
}

function whole(row: TranscriptRow): string {
  switch (row.kind) {
    case 'turn':
      return spoken(row)
    case 'user':
      return contentText(row.entry.content)
    case 'assistant':
    case 'thinking':
      return row.pieces.map(({ text }) => text).join('')
    case 'tool': {
      const { entry } = row
      const stored = [entry.input, entry.output].flatMap(text =>
        text === null || typeof text === 'string' ? [] : [artifactWords(text)],
      )
      return [toolTitle(entry), inputText(entry.input), toolTextOf(entry.output), ...stored].filter(Boolean).join('\n')
    }
    case 'interaction':
      return [...optionLines(row.entry.request), outcomeLine(row.entry.outcome, row.entry.request)].join('\n')
    case 'plan':
      return `${row.entry.text}${row.entry.by === undefined ? '' : ` (from ${surfaceWords(row.entry.by.surface)})`}`
    case 'notice':
      return row.entry.text
    case 'end':
      return `${brokenWords(row.turn)}\n${nextWords(row.turn)}`
    default:
      return row satisfies never
  }
}

function contentText({ text, displayText, quotes = [], attachments = [] }: Content): string {
  return [
    ...quotes.map(quote => `> ${quote.text}`),
    displayText ?? text,
    ...attachments.map(attachment => `[${attachmentWords(attachment)}]`),
  ].join('\n')
}
