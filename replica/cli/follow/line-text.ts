import type { InteractionRequest } from '../../../schema/entities/interaction.ts'
import type { ToolStatus } from '../../../schema/entities/transcript.ts'
import { summaryOf } from '../answering/describe.ts'
import { THINKING_MARK, toolLine } from './entry-text.ts'
import type { EventLine } from './event-lines.ts'

interface Item {
  readonly kind: string
  readonly id: string
  readonly text?: string
  readonly content?: { readonly text: string; readonly displayText?: string }
  readonly name?: string
  readonly title?: string
  readonly status?: ToolStatus
}

/** An event line as people read it; undefined for one that says nothing to them. */
export function lineText(line: EventLine): string | undefined {
  switch (line.type) {
    case 'item.completed':
    case 'item.started':
      return itemText(line.item as Item)
    case 'interaction.opened':
      return `? ${summaryOf(line.request as InteractionRequest)}`
    case 'interaction.settled':
      return `? ${line.interactionId}: ${line.status}`
    case 'turn.completed':
      return '— turn completed'
    case 'turn.failed':
      return `— turn failed: ${line.failureClass}${line.failureMessage === undefined ? '' : `: ${line.failureMessage}`}`
    case 'turn.cancelled':
      return `— turn cancelled (${line.abortSource})`
    default:
      return undefined
  }
}

function itemText({ kind, id, text = '', content, name = '', title, status = 'unknown' }: Item): string {
  if (kind === 'user') return `› ${content?.displayText ?? content?.text ?? ''}`
  if (kind === 'tool') return toolLine({ name, title: title ?? id, status })
  return kind === 'thinking' ? `${THINKING_MARK}${text}` : text
}
