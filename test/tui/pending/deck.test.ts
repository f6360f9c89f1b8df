import { expect, test } from 'vitest'
import { cardTitle, settledWords } from '../../../replica/view/pending/card-words.ts'
import {
  type Deck,
  deckElapsed,
  deckLeft,
  deckPressed,
  deckRefused,
  deckSeen,
  deckUncovered,
  EMPTY_DECK,
  GRACE_MS,
  SETTLED_MS,
  shownCard,
} from '../../../replica/view/pending/deck.ts'
import type { CardInput } from '../../../replica/view/pending/fill.ts'
import type { InteractionOutcome, InteractionSnapshot } from '../../../schema/entities/interaction.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { answeredBy, PERMISSION, pendingOf, QUESTIONS } from '../../support/tui/interactions.ts'

const T = 1_000_000
const FIRST = pendingOf('i1', PERMISSION)
const SECOND = pendingOf('i2', QUESTIONS)
const THIRD = pendingOf('i3', PERMISSION)
const pick = (number: number): CardInput => ({ kind: 'choose', index: number - 1 })

type Outcomes = Readonly<Record<string, InteractionOutcome>>
const seen = (deck: Deck, pending: readonly InteractionSnapshot[], at: number, outcomes: Outcomes = {}): Deck =>
  deckSeen(deck, { pending, outcomeOf: id => outcomes[id] ?? null, at })
/** A session that is looked at and in which nothing waits. */
const watched = seen(EMPTY_DECK, [], T)

test('experience 6.3 the oldest is shown, with its place and since when it waits', () => {
  const deck = seen(watched, [FIRST, SECOND, THIRD], T)
  const card = shownCard(deck)
  expect(card?.interaction).toBe(FIRST)
  if (card === undefined) return
  expect(cardTitle(deck, card, T + 42_000)).toEqual(['permission', '1 of 3 waiting', 'waits 0:42'])
  const late = seen(EMPTY_DECK, [SECOND], T)
  expect(cardTitle(late, shownCard(late) as typeof card, T + 61_000)).toEqual([
    'question 1 of 3',
    'waits at least 1:01',
  ])
})

test('experience 6.3 keys that answer do nothing while a card is newly shown, and nothing is lost by that', () => {
  const deck = seen(watched, [FIRST], T)
  for (const at of [T, T + 1, T + GRACE_MS - 1]) {
    for (const input of [pick(1), { kind: 'confirm' }, { kind: 'deny' }, { kind: 'toggle' }] as const) {
      expect(deckPressed(deck, input, at)).toEqual({ deck, send: null, isTaken: true })
    }
  }
  const moved = deckPressed(deck, { kind: 'move', step: 1 }, T)
  expect(shownCard(moved.deck)?.fill).toEqual({ kind: 'permission', marked: 1 })
  const send = { interactionId: 'i1', answer: { kind: 'permission', optionId: 'yes' } }
  expect(deckPressed(deck, pick(1), T + GRACE_MS).send).toEqual(send)
  expect(deckPressed(deck, pick(1), T - 60_000).send).toEqual(send)
})

test('experience 6.3 another card in its place, another revision, and one that comes to light again are newly shown', () => {
  const old = T + 10_000
  const deck = seen(watched, [FIRST, SECOND], T)
  const isTooNew = (next: Deck) => deckPressed(next, pick(1), old + GRACE_MS - 1).send === null
  expect(isTooNew(seen(deck, [FIRST, SECOND, THIRD], old))).toBe(false)
  expect(isTooNew(seen(deck, [SECOND], old))).toBe(true)
  expect(isTooNew(seen(deck, [{ ...FIRST, revision: 2 }], old))).toBe(true)
  expect(isTooNew(deckUncovered(deck, old))).toBe(true)
  expect(isTooNew(deck)).toBe(false)
})

test('I4 experience 6.3 a second press sends nothing; a refused answer can be given again', () => {
  const at = T + GRACE_MS
  const { deck } = deckPressed(seen(watched, [FIRST], T), pick(1), at)
  for (const input of [pick(1), pick(2), { kind: 'confirm' }, { kind: 'move', step: 1 }] as const) {
    expect(deckPressed(deck, input, at + 5_000)).toEqual({ deck, send: null, isTaken: true })
  }
  const again = deckPressed(deckRefused(deck, 'i1'), pick(3), at + 1)
  expect(again.send).toEqual({ interactionId: 'i1', answer: { kind: 'permission', optionId: 'no' } })
  const others = deckRefused(deck, 'i9')
  expect(deckPressed(others, pick(1), at).send).toBeNull()
})

test('I2 experience 6.3 an answer is bound to the card that was shown when the key was pressed', () => {
  const next = seen(seen(watched, [FIRST, THIRD], T), [THIRD], T + 1_000)
  expect(deckPressed(next, pick(1), T + 1_001).send).toBeNull()
  expect(deckPressed(next, pick(1), T + 1_000 + GRACE_MS).send?.interactionId).toBe('i3')
})

test('I4 experience 6.3 what others answered is told for five seconds, with who, when and what', () => {
  const outcome = answeredBy('desktop', { kind: 'permission', optionId: 'always' }, T + 1_000)
  const deck = seen(seen(watched, [FIRST, SECOND], T), [SECOND], T + 1_000, { i1: outcome })
  const [told] = deck.settled
  if (told === undefined) throw new Error('nothing is told')
  expect(settledWords(told, T + 1_400)).toBe('permission answered by the page, just now: Always allow')
  expect(settledWords(told, T + 3_000)).toBe('permission answered by the page, 2 s ago: Always allow')
  expect(deckElapsed(deck, T + 1_000 + SETTLED_MS - 1)).toBe(deck)
  expect(deckElapsed(deck, T + 1_000 + SETTLED_MS).settled).toEqual([])
  const questions = { kind: 'question' as const, answers: [{ labels: ['red'] }, null, { labels: [], text: 'so' }] }
  const words = settledWords({ ...told, interaction: SECOND, outcome: answeredBy('tui', questions, T) }, T + 125_000)
  expect(words).toBe('question answered by a terminal, 2 min ago: red / – / so')
})

test('I5 experience 6.3 what circumstances closed is told with the reason', () => {
  const closures = {
    turn_stopped: 'the turn was stopped',
    turn_terminal: 'the turn ended',
    host_restarted: 'the leader ended and started again',
    expired: 'nobody answered in time',
  } as const
  for (const [reason, words] of Object.entries(closures)) {
    const outcome = { kind: 'closure', reason: reason as keyof typeof closures, at: T } as const
    const [told] = seen(seen(watched, [FIRST], T), [], T + 1, { i1: outcome }).settled
    expect(told && settledWords(told, T + 2)).toBe(`permission closed: ${words}`)
  }
})

test('experience 6.3 nothing is told of my own answer, of cards that were not shown, and of what happened while nobody looked', () => {
  const two = seen(watched, [FIRST, THIRD], T)
  const mine = deckPressed(two, pick(1), T + GRACE_MS).deck
  const yes = answeredBy('tui', { kind: 'permission', optionId: 'yes' }, T)
  const no = answeredBy('desktop', { kind: 'permission', optionId: 'no' }, T)
  expect(seen(mine, [THIRD], T + 500, { i1: yes }).settled).toEqual([])
  expect(seen(mine, [THIRD], T + 500, { i1: no }).settled).toHaveLength(1)
  expect(seen(two, [FIRST], T + 500, { i3: no }).settled).toEqual([])
  expect(seen(deckLeft(two), [], T + 500, { i1: no }).settled).toEqual([])
})

test('experience 6.3 what was filled in is there again for who comes back', () => {
  const deck = deckPressed(seen(watched, [SECOND], T), pick(2), T + GRACE_MS).deck
  const back = seen(deckLeft(deck), [SECOND], T + 60_000)
  expect(shownCard(back)?.fill).toMatchObject({ step: 1 })
  const [title] = [cardTitle(back, shownCard(back) as NonNullable<ReturnType<typeof shownCard>>, T + 61_000)]
  expect(title.at(-1)).toBe('waits 1:01')
})

test('experience 6.3 however many others settle at once, only some are told about, and sights that change nothing make nothing new', () => {
  const all = Array.from({ length: LIMITS.interactionsPending }, (_, at) => pendingOf(`c${at}`, PERMISSION))
  const outcome = answeredBy('desktop', { kind: 'permission', optionId: 'no' }, T)
  let deck = seen(watched, all, T)
  expect(seen(deck, all, T + 5)).toBe(deck)
  for (let left = all.length - 1; left >= 0; left--) {
    deck = seen(
      deck,
      all.slice(all.length - left),
      T + 10,
      Object.fromEntries(all.map(each => [each.interactionId, outcome])),
    )
  }
  expect(deck.cards).toEqual([])
  expect(deck.settled.map(({ interaction }) => interaction.interactionId)).toEqual(['c13', 'c14', 'c15'])
  expect(deckPressed(deck, pick(1), T + 10_000)).toEqual({ deck, send: null, isTaken: false })
})
