import { LIMITS } from '../../../schema/limits.ts'
import type { ReplicaStore } from '../../react/types.ts'
import { type Deck, deckLeft, EMPTY_DECK } from '../../view/pending/deck.ts'

/** The cards of a session as they are at this moment, also between two frames, so that no key meets a card that is gone. */
export class DeckCell {
  readonly #listeners = new Set<() => void>()
  #deck = EMPTY_DECK

  /** The cards now. */
  readonly now = (): Deck => this.#deck

  /** Calls the listener whenever the cards change; the returned function ends that. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Other cards. */
  set(deck: Deck): void {
    if (deck === this.#deck) return
    this.#deck = deck
    for (const listener of [...this.#listeners]) listener()
  }
}

const CELLS = new WeakMap<ReplicaStore, Map<string, DeckCell>>()

/** The cards of a session: what was filled in there and not sent is found again by who comes back. */
export function deckCellOf(store: ReplicaStore, sessionId: string): DeckCell {
  const cells = CELLS.get(store) ?? new Map<string, DeckCell>()
  CELLS.set(store, cells)
  const cell = cells.get(sessionId) ?? new DeckCell()
  cells.delete(sessionId)
  cells.set(sessionId, cell)
  const [oldest] = cells.keys()
  if (cells.size > LIMITS.pendingDecks && oldest !== undefined) cells.delete(oldest)
  return cell
}

/** Nobody looks at the cards of a session any more. */
export function leaveDeck(cell: DeckCell): void {
  cell.set(deckLeft(cell.now()))
}
