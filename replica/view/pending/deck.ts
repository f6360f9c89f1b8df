import { isEquivalent } from '../../../schema/entities/answer-shape.ts'
import type {
  InteractionAnswer,
  InteractionOutcome,
  InteractionSnapshot,
} from '../../../schema/entities/interaction.ts'
import { LIMITS } from '../../../schema/limits.ts'
import type { CardInput, Filled } from './fill.ts'
import { type FormFill, fillForm, openForm } from './form-fill.ts'
import { fillPermission, OPEN_PERMISSION, type PermissionFill } from './permission-fill.ts'
import { fillQuestions, openQuestions, type QuestionFill } from './question-fill.ts'

/*
 * What waits for a person in one session, as cards; the oldest one is shown.
 *
 *                       ┌── refused ──┐
 *                       ▼             │
 *   seen ──▶ shown ──▶ filled in ──▶ sending ──▶ gone
 *              │           │            │
 *              └───────────┴────────────┴─ settled by others ──▶ told for a while ──▶ gone
 */

/** How far a card is filled in. */
export type CardFill = QuestionFill | PermissionFill | FormFill

/** One interaction that waits. `seenAt`: since when it is known here, ms of the local clock; `isSeenComing`: it began to wait then. */
export interface Card {
  readonly interaction: InteractionSnapshot
  readonly seenAt: number
  readonly isSeenComing: boolean
  readonly fill: CardFill
  /** The answer that is on its way. */
  readonly sending: InteractionAnswer | null
  /** All of a long text is shown. */
  readonly isWhole: boolean
  /** Why the last key did nothing. */
  readonly words: string | null
}

/** A card that was shown and that others settled. `outcome` is null where it is not known here how. */
export interface SettledCard {
  readonly interaction: InteractionSnapshot
  readonly outcome: InteractionOutcome | null
  /** ms of the local clock. */
  readonly seenAt: number
}

/**
 * The cards of a session, oldest first. `shownAt`: since when the first one is shown as it is; null before anything was seen. `isWatched`: all
 * that happened since the last look was seen.
 */
export interface Deck {
  readonly cards: readonly Card[]
  readonly settled: readonly SettledCard[]
  readonly shownAt: number | null
  readonly isWatched: boolean
}

/** What is seen of a session at a moment, ms of the local clock. */
export interface Sight {
  readonly pending: readonly InteractionSnapshot[]
  /** How an interaction ended, as far as that can be seen. */
  readonly outcomeOf: (interactionId: string) => InteractionOutcome | null
  readonly at: number
}

/** What a key did. `send`: the answer to be given, once. `isTaken` is false for a key that means nothing on this card. */
export interface Pressed {
  readonly deck: Deck
  readonly send: { readonly interactionId: string; readonly answer: InteractionAnswer } | null
  readonly isTaken: boolean
}

/** How long keys that answer do nothing on a card that is newly shown. Unit: ms. Source: experience 6.3. */
export const GRACE_MS = 400
/** How long it is told that others settled a card. Unit: ms. Source: experience 6.3. */
export const SETTLED_MS = 5_000

/** Nothing was seen yet. */
export const EMPTY_DECK: Deck = { cards: [], settled: [], shownAt: null, isWatched: false }

/** The card that is shown; undefined where nothing waits. */
export function shownCard({ cards }: Deck): Card | undefined {
  return cards[0]
}

/** The cards as they follow from what is seen now. One that is shown and ended without this person is told about. Source: I4, experience 6.3. */
export function deckSeen(deck: Deck, sight: Sight): Deck {
  const { pending, at } = sight
  const cards = pending.map(interaction => keptCard(deck, interaction, at))
  const before = shownCard(deck)
  const isSame = before !== undefined && cards[0] !== undefined && keyOf(cards[0]) === keyOf(before)
  const isTold = !isSame && before !== undefined && deck.isWatched
  const settled = isTold ? withSettled(deck.settled, before, sight) : deck.settled
  if (isSame && deck.isWatched && settled === deck.settled && isEachSame(cards, deck.cards)) return deck
  return { cards, settled, shownAt: isSame ? deck.shownAt : at, isWatched: true }
}

/** The card that is shown can be seen again, after something else was: it counts as newly shown. */
export function deckUncovered(deck: Deck, at: number): Deck {
  return deck.shownAt === null ? deck : { ...deck, shownAt: at }
}

/** Nobody looks any more: what is filled in stays, what was told is over. */
export function deckLeft(deck: Deck): Deck {
  return { ...deck, settled: [], isWatched: false }
}

/** Without what was told long enough. */
export function deckElapsed(deck: Deck, at: number): Deck {
  const settled = deck.settled.filter(({ seenAt }) => at - seenAt < SETTLED_MS)
  return settled.length === deck.settled.length ? deck : { ...deck, settled }
}

/** True while a card is so new that a key was meant for something else. A clock that was set back ends it. Source: experience 6.3. */
export function isInGrace({ shownAt }: Deck, at: number): boolean {
  return shownAt !== null && at >= shownAt && at - shownAt < GRACE_MS
}

/**
 * What a key does on the card that is shown: nothing while its answer is on the way, and one that answers nothing while the card is new. What it
 * gives to be sent is bound to that card. Source: I2, experience 6.3.
 */
export function deckPressed(deck: Deck, input: CardInput, at: number): Pressed {
  const card = shownCard(deck)
  if (card === undefined) return { deck, send: null, isTaken: false }
  if (card.sending !== null || (isAnswering(input) && isInGrace(deck, at))) return { deck, send: null, isTaken: true }
  const filled = fillCard(card, input)
  if (filled === null) return { deck, send: null, isTaken: false }
  const { fill, answer, words } = filled
  const next = withShown(deck, { ...card, fill, sending: answer ?? null, words: words ?? null })
  const { interactionId } = card.interaction
  return { deck: next, send: answer === undefined ? null : { interactionId, answer }, isTaken: true }
}

/** The whole of a long text, or its beginning again. */
export function deckWhole(deck: Deck, isWhole: boolean): Deck {
  const card = shownCard(deck)
  return card === undefined || card.isWhole === isWhole ? deck : withShown(deck, { ...card, isWhole })
}

/** The answer to an interaction was not taken: another one can be given. */
export function deckRefused(deck: Deck, interactionId: string): Deck {
  const cards = deck.cards.map(card =>
    card.interaction.interactionId === interactionId ? { ...card, sending: null } : card,
  )
  return { ...deck, cards }
}

function isAnswering({ kind }: CardInput): boolean {
  return kind === 'choose' || kind === 'toggle' || kind === 'confirm' || kind === 'deny'
}

function keyOf({ interaction }: Pick<Card, 'interaction'>): string {
  return `${interaction.interactionId} ${interaction.revision}`
}

function keptCard(deck: Deck, interaction: InteractionSnapshot, at: number): Card {
  const known = deck.cards.find(card => keyOf(card) === keyOf({ interaction }))
  if (known !== undefined) return known.interaction === interaction ? known : { ...known, interaction }
  return {
    interaction,
    seenAt: at,
    isSeenComing: deck.isWatched,
    fill: openFill(interaction),
    sending: null,
    isWhole: false,
    words: null,
  }
}

function openFill({ request }: InteractionSnapshot): CardFill {
  if (request.kind === 'question') return openQuestions(request)
  return request.kind === 'permission' ? OPEN_PERMISSION : openForm(request)
}

function isEachSame(a: readonly Card[], b: readonly Card[]): boolean {
  return a.length === b.length && a.every((card, at) => card === b[at])
}

/** An answer of this person that is on its way needs no telling, unless it came too late. */
function withSettled(settled: readonly SettledCard[], card: Card, { pending, outcomeOf, at }: Sight): Deck['settled'] {
  const { interaction, sending } = card
  if (pending.some(({ interactionId }) => interactionId === interaction.interactionId)) return settled
  const outcome = outcomeOf(interaction.interactionId)
  if (sending !== null && (outcome === null || isAnswer(card, outcome, sending))) return settled
  return [...settled, { interaction, outcome, seenAt: at }].slice(-LIMITS.pendingSettledTold)
}

function isAnswer({ interaction }: Card, outcome: InteractionOutcome, answer: InteractionAnswer): boolean {
  return outcome.kind === 'answer' && isEquivalent(interaction.request, outcome.answer, answer)
}

function withShown(deck: Deck, card: Card): Deck {
  return { ...deck, cards: deck.cards.map((each, at) => (at === 0 ? card : each)) }
}

function fillCard({ interaction: { request }, fill }: Card, input: CardInput): Filled<CardFill> | null {
  if (request.kind === 'question' && fill.kind === 'question') return fillQuestions(request, fill, input)
  if (request.kind === 'permission' && fill.kind === 'permission') return fillPermission(request, fill, input)
  return request.kind === 'form' && fill.kind === 'form' ? fillForm(request, fill, input) : null
}
