import type { Content } from '../../../../schema/entities/content.ts'
import type { InteractionOutcome, InteractionRequest } from '../../../../schema/entities/interaction.ts'
import type { ExecutionStep, PlanStep } from '../../../../schema/entities/plan.ts'
import type { ToolEntry, ToolText, TranscriptEntry } from '../../../../schema/entities/transcript.ts'
import { byteText } from '../../../view/byte-text.ts'
import { optionLines, outcomeLine } from '../../../view/interaction-words.ts'
import { surfaceWords, toolWords } from '../../../view/words.ts'
import { closed, code, fenced, folded, inline, item, quoted } from './markdown-text.ts'

/** What is known of plans by their ids. */
export interface PlanLookup {
  steps(entry: Extract<TranscriptEntry, { kind: 'plan' }>): readonly (PlanStep | ExecutionStep)[]
}

/** One entry, or pieces of one message joined, as a block of Markdown without blank lines around it. */
export function entryMarkdown(entry: TranscriptEntry, plans: PlanLookup): string {
  switch (entry.kind) {
    case 'user':
      return userMarkdown(entry)
    case 'assistant':
      return closed(entry.text)
    case 'thinking':
      return folded('Thinking', entry.text)
    case 'notice':
      return quoted(`**Notice:** ${entry.text}`)
    case 'tool':
      return toolMarkdown(entry)
    case 'interaction':
      return interactionMarkdown(entry.request, entry.outcome)
    case 'plan': {
      const by = entry.by === undefined ? '' : ` (from ${inline(surfaceWords(entry.by.surface))})`
      return [`**Plan:** ${inline(entry.text)}${by}`, ...stepLines(plans.steps(entry))].join('\n')
    }
    default:
      return entry satisfies never
  }
}

function userMarkdown({ content, submittedBy, isSteering }: Extract<TranscriptEntry, { kind: 'user' }>): string {
  const who = submittedBy === null ? 'User' : `User (${inline(surfaceWords(submittedBy.surface))})`
  const how = isSteering === true ? ', into the running turn' : ''
  const parts = [`**${who}${how}:**`, quoted(content.displayText ?? content.text), ...contentParts(content)]
  return parts.join('\n\n')
}

function contentParts({ quotes = [], attachments = [] }: Content): string[] {
  const quotations = quotes.map(({ text, label }) =>
    quoted(label === undefined ? text : `**${inline(label)}**\n\n${text}`),
  )
  const files = attachments.map(({ kind, name, mimeType, bytes }) =>
    item('-', `${kind} ${code(name)} (${inline(mimeType)}, ${byteText(bytes)})`),
  )
  return files.length === 0 ? quotations : [...quotations, files.join('\n')]
}

function toolMarkdown({ name, title, status, input, output }: ToolEntry): string {
  const what = title === '' ? '' : `: ${inline(title)}`
  const kind = name === '' ? '' : ` ${code(name)}`
  const head = `**Tool**${kind}${what} — ${toolWords(status)}`
  return [head, ...toolText('Input', input), ...toolText('Output', output)].join('\n\n')
}

function toolText(label: string, text: ToolText | null): string[] {
  if (text === null || text === '') return []
  if (typeof text === 'string') return [`${label}:`, fenced(text)]
  return [`${label} (the beginning of ${byteText(text.bytes)}, ${code(text.artifact)}):`, fenced(text.preview)]
}

const HEADS: Readonly<Record<InteractionRequest['kind'], string>> = {
  question: 'Question',
  permission: 'Permission',
  form: 'Form',
}

function interactionMarkdown(request: InteractionRequest, outcome: InteractionOutcome): string {
  const lines = optionLines(request).map(line => item('-', inline(line)))
  const answer = outcomeLine(outcome, request)
  const form =
    outcome.kind === 'answer' && outcome.answer.kind === 'form' ? [fenced(formText(outcome.answer), 'json')] : []
  return [`**${HEADS[request.kind]}**`, lines.join('\n'), inline(answer), ...form].join('\n\n')
}

function formText(answer: object): string {
  return JSON.stringify('values' in answer ? answer.values : answer, null, 2)
}

const MARKS: Readonly<Record<ExecutionStep['status'], string>> = {
  pending: '[ ]',
  in_progress: '[ ] (in progress)',
  completed: '[x]',
  skipped: '[ ] (skipped)',
}

function stepLines(steps: readonly (PlanStep | ExecutionStep)[]): string[] {
  if (steps.length === 0) return []
  return ['', ...steps.map((step, i) => item(`${i + 1}.`, stepText(step)))]
}

function stepText(step: PlanStep | ExecutionStep): string {
  const mark = 'status' in step ? `${MARKS[step.status]} ` : ''
  const note = 'status' in step && step.note !== undefined ? `note: ${inline(step.note)}` : ''
  return [`${mark}${inline(step.title)}`, inline(step.description), note].filter(line => line !== '').join('  \n')
}
