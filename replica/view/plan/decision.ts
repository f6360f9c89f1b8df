/** What a person can decide about a plan by one key. */
export type PlanChoice = 'approve' | 'abandon' | 'resume' | 'cancel'

/** Where a decision stands. `subject` is the proposal or execution that it is about. */
export type PlanDecision =
  | { readonly at: 'none' }
  | { readonly at: 'asked' | 'sending'; readonly choice: PlanChoice; readonly subject: string }

/** What follows from a key. `newer`: what was read is not the newest; that is shown first and nothing was decided. */
export type DecisionEffect = 'ask' | 'send' | 'newer' | 'wait'

/** Nothing is being decided. */
export const UNDECIDED: PlanDecision = { at: 'none' }

const ASKED_FIRST: ReadonlySet<PlanChoice> = new Set(['approve', 'abandon', 'cancel'])

/**
 * A key of a choice was pressed over `subject`. What cannot be taken back is asked once; while something is on its way nothing else is sent; a
 * subject that has been replaced since it was read is never decided on. Source: P4, P10, experience 6.4.
 */
export function decide(
  decision: PlanDecision,
  { choice, subject, newest }: { readonly choice: PlanChoice; readonly subject: string; readonly newest: string },
): { readonly decision: PlanDecision; readonly effect: DecisionEffect } {
  if (decision.at === 'sending') return { decision, effect: 'wait' }
  if (subject !== newest) return { decision: UNDECIDED, effect: 'newer' }
  const wasAsked = decision.at === 'asked' && decision.choice === choice && decision.subject === subject
  return ASKED_FIRST.has(choice) && !wasAsked
    ? { decision: { at: 'asked', choice, subject }, effect: 'ask' }
    : { decision: { at: 'sending', choice, subject }, effect: 'send' }
}
