import type { InteractionOutcome, InteractionRequest } from '../../../schema/entities/interaction.ts'
import type { ToolStatus } from '../../../schema/entities/transcript.ts'
import { outcomeLine, summaryOf } from '../../view/interaction-words.ts'
import { endWords, type TurnEnd } from '../../view/words.ts'
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

/** Event lines as people read them, in order; undefined for one that says nothing to them. */
export type LineText = (line: EventLine) => string | undefined

/** Remembers what later lines only name: tools that run, and what was asked. Both are forgotten when they end. */
export function createLineText(): LineText {
  const tools = new Map<string, Item>()
  const asked = new Map<string, InteractionRequest>()
  return line => {
    switch (line.type) {
      case 'item.started':
      case 'item.changed':
      case 'item.completed':
        return itemText(line.type, line.item as Item, tools)
      case 'interaction.opened':
        asked.set(line.interactionId as string, line.request as InteractionRequest)
        return `? ${summaryOf(line.request as InteractionRequest)}`
      case 'interaction.settled':
        return settledText(line, asked)
      case 'turn.completed':
        return '— turn completed'
      case 'turn.failed':
        return `— turn failed: ${endWords(line as unknown as TurnEnd)}`
      case 'turn.cancelled':
        return `— turn cancelled: ${endWords(line as unknown as TurnEnd)}`
      default:
        return undefined
    }
  }
}

function itemText(type: string, item: Item, tools: Map<string, Item>): string | undefined {
  if (item.kind === 'tool') return toolText(type, { ...tools.get(item.id), ...item }, tools)
  if (type !== 'item.completed') return undefined
  const { kind, text = '', content } = item
  if (kind === 'user') return `› ${content?.displayText ?? content?.text ?? ''}`
  return kind === 'thinking' ? `${THINKING_MARK}${text}` : text
}

function toolText(type: string, tool: Item, tools: Map<string, Item>): string | undefined {
  if (type === 'item.completed') tools.delete(tool.id)
  else tools.set(tool.id, tool)
  if (type === 'item.changed') return undefined
  return toolLine({ name: tool.name ?? '', title: tool.title ?? tool.id, status: tool.status ?? 'unknown' })
}

function settledText(line: EventLine, asked: Map<string, InteractionRequest>): string {
  const interactionId = line.interactionId as string
  const request = asked.get(interactionId)
  if (request === undefined) return `? ${interactionId}: ${line.status}`
  asked.delete(interactionId)
  return `? ${summaryOf(request)}: ${outcomeLine(line.outcome as InteractionOutcome, request)}`
}
