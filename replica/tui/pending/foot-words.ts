import { shortChord } from '../../view/keymap/chord.ts'
import type { EffectiveKeys } from '../../view/keymap/key-table.ts'
import type { Card } from '../../view/pending/deck.ts'
import { isReview } from '../../view/pending/question-fill.ts'

/** What the lower border of a card says. */
export interface FootState {
  readonly card: Card
  readonly hasKeys: boolean
  /** Why nothing can be answered now; null: it can. */
  readonly reason: string | null
  readonly isHidden: boolean
}

/** How a card can be answered, by the keys in force; or why it cannot now. Source: experience 7.1, 7.2. */
export function footWords(
  { card, hasKeys, reason, isHidden }: FootState,
  table: Pick<EffectiveKeys, 'keysOf'>,
): readonly string[] {
  if (card.sending !== null) return ['sending…']
  if (reason !== null) return [reason]
  const key = (action: Parameters<EffectiveKeys['keysOf']>[0], context: 'pending' | 'composer' = 'pending'): string =>
    shortChord(table.keysOf(action, context)[0] ?? 'palette')
  if (!hasKeys) return [`${key('focus.next', 'composer')} answers`]
  const count = choicesOf(card)
  const isForm = card.fill.kind === 'form'
  return [
    ...(count > 0 ? [`${count === 1 ? '1' : `1–${Math.min(9, count)}`} choose`] : []),
    `${key('pending.confirm')} ${confirmWords(card)}`,
    ...(isHidden ? [`${key('pending.show_all')} show all`] : []),
    ...(isForm ? [] : [`${key('pending.deny')} decline`]),
  ]
}

function choicesOf({ interaction: { request }, fill }: Card): number {
  if (request.kind === 'permission') return request.options.length
  if (request.kind !== 'question' || fill.kind !== 'question') return 0
  return isReview(fill) ? request.questions.length : (request.questions[fill.step]?.options.length ?? 0)
}

function confirmWords({ interaction: { request }, fill }: Card): string {
  if (request.kind === 'form' && fill.kind === 'form') return fill.marked < fill.fields.length ? 'next' : 'send'
  if (request.kind !== 'question' || fill.kind !== 'question') return 'answer'
  if (isReview(fill)) return fill.marked < request.questions.length ? 'change' : 'send'
  return request.questions.length > 1 ? 'next' : 'answer'
}
