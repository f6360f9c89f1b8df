import { useEffect, useLayoutEffect, useMemo, useSyncExternalStore } from 'react'
import type { SessionProjection } from '../../../schema/entities/projection.ts'
import type { TranscriptEntry } from '../../../schema/entities/transcript.ts'
import { type Deck, deckElapsed, deckSeen, deckUncovered, SETTLED_MS, type Sight } from '../../view/pending/deck.ts'
import { useApp } from '../app/app-context.ts'
import { type DeckCell, deckCellOf, leaveDeck } from './deck-cell.ts'

/** The cards of a session, kept as what is seen of it changes. Source: I4, experience 6.3. */
export function useDeck(
  sessionId: string,
  projection: SessionProjection,
  clock: () => number,
): { readonly deck: Deck; readonly cell: DeckCell } {
  const { store, overlay } = useApp()
  const cell = useMemo(() => deckCellOf(store, sessionId), [store, sessionId])
  const kept = useSyncExternalStore(cell.subscribe, cell.now, cell.now)
  const { pending } = projection.interactions
  const { entries } = projection.transcript
  useLayoutEffect(() => () => leaveDeck(cell), [cell])
  const isCovered = overlay !== null && overlay !== undefined
  useLayoutEffect(() => {
    if (!isCovered) cell.set(deckUncovered(cell.now(), clock()))
  }, [cell, clock, isCovered])
  // No frame shows a card that is gone.
  const deck = useMemo(() => deckSeen(kept, sightOf(pending, entries, clock())), [kept, pending, entries, clock])
  useLayoutEffect(() => {
    cell.set(deckSeen(cell.now(), sightOf(pending, entries, clock())))
  }, [cell, clock, pending, entries])
  const oldest = deck.settled[0]
  useEffect(() => {
    if (oldest === undefined) return
    const left = Math.max(0, oldest.seenAt + SETTLED_MS - clock())
    const timer = setTimeout(() => cell.set(deckElapsed(cell.now(), oldest.seenAt + SETTLED_MS)), left)
    return () => clearTimeout(timer)
  }, [cell, clock, oldest])
  return { deck, cell }
}

type Pending = SessionProjection['interactions']['pending']

function sightOf(pending: Pending, entries: readonly TranscriptEntry[], at: number): Sight {
  const outcomeOf = (interactionId: string) => {
    const entry = entries.findLast(each => each.kind === 'interaction' && each.interactionId === interactionId)
    return entry?.kind === 'interaction' ? entry.outcome : null
  }
  return { pending, outcomeOf, at }
}
