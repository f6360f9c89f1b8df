import type { PermissionRequest } from '../../../schema/entities/interaction.ts'
import { answererWords, answerWords } from '../interaction-words.ts'
import { clockWords } from '../time-words.ts'
import { closureWords } from '../words.ts'
import type { Card, Deck, SettledCard } from './deck.ts'
import { isReview } from './question-fill.ts'
import { visibleLine } from './visible-text.ts'

type Option = PermissionRequest['options'][number]

/** What the head of the first card says, the most important first: what it is, its place among those that wait, since when it waits. */
export function cardTitle({ cards }: Deck, card: Card, now: number): readonly string[] {
  return [
    kindWords(card),
    ...(cards.length > 1 ? [`1 of ${cards.length} waiting`] : []),
    `${card.isSeenComing ? 'waits' : 'waits at least'} ${clockWords(now - card.seenAt)}`,
  ]
}

/** How a card was settled by others, and how long ago. Source: I4, I5, experience 6.3. */
export function settledWords({ interaction, outcome, seenAt }: SettledCard, now: number): string {
  const kind = interaction.request.kind
  if (outcome === null) return `${kind} settled meanwhile`
  if (outcome.kind === 'closure') return `${kind} closed: ${closureWords(outcome.reason)}`
  const words = answerWords(outcome.answer, interaction.request)
  const ago = secondsAgo(Math.max(now - seenAt, now - outcome.at))
  return visibleLine(`${kind} answered by ${answererWords(outcome)}, ${ago}${words === '' ? '' : `: ${words}`}`)
}

/** What an option of a permission does, where its label does not say it: the label is the agent's, this is what it counts as. Source: I7. */
export function optionNote({ kind, label }: Option, { toolKind }: PermissionRequest): string {
  const says = (...words: readonly string[]): boolean => words.includes(label.trim().toLowerCase())
  switch (kind) {
    case 'allow_once':
      return says('allow once') ? '' : 'allow once'
    case 'allow_always':
      return `${says('allow always', 'always allow') ? '' : 'allow always: '}every ${toolKind} in this session`
    case 'reject_once':
      return says('reject once', 'reject') ? '' : 'reject once'
    case 'reject_always':
      return says('reject always', 'always reject') ? '' : 'reject always'
    default:
      return kind satisfies never
  }
}

function kindWords({ interaction: { request }, fill }: Card): string {
  if (request.kind !== 'question' || fill.kind !== 'question' || request.questions.length === 1) return request.kind
  const count = request.questions.length
  return isReview(fill) ? `answers to ${count} questions` : `question ${fill.step + 1} of ${count}`
}

function secondsAgo(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000))
  if (seconds < 1) return 'just now'
  if (seconds < 60) return `${seconds} s ago`
  const minutes = Math.floor(seconds / 60)
  return minutes < 60 ? `${minutes} min ago` : `${Math.floor(minutes / 60)} h ago`
}
