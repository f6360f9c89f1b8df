import { deckPressed, deckRefused } from '../../view/pending/deck.ts'
import type { CardInput } from '../../view/pending/fill.ts'
import type { App } from '../app/app-context.ts'
import { outcomeOf } from '../session/outcome.ts'
import type { DeckCell } from './deck-cell.ts'

/** Where a key on a card leads. */
export interface Answering {
  readonly app: App
  readonly cell: DeckCell
  readonly sessionId: string
  readonly clock: () => number
}

/**
 * Does what a key does on the card that is shown; a complete answer is sent, once. False where the key means nothing there. That others were
 * faster is told, and is no fault. Source: I4, experience 6.3.
 */
export function pressCard({ app, cell, sessionId, clock }: Answering, input: CardInput): boolean {
  const { deck, send, isTaken } = deckPressed(cell.now(), input, clock())
  cell.set(deck)
  if (send === null) return isTaken
  const { interactionId } = send
  void outcomeOf(app.sessionCommands(sessionId).answerInteraction(send)).then(outcome => {
    if (outcome.ok) return
    cell.set(deckRefused(cell.now(), interactionId))
    app.tell(outcome.sentence, outcome.code === 'already_resolved' ? 'normal' : 'warn')
  })
  return true
}
