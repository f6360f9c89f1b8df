import { useEffect, useMemo, useRef, useState } from 'react'
import type { SessionProjection } from '../../../schema/entities/projection.ts'
import { shortChord } from '../../view/keymap/chord.ts'
import { cardHead } from '../../view/pending/card-head.ts'
import { cardRows } from '../../view/pending/card-rows.ts'
import { cardTitle } from '../../view/pending/card-words.ts'
import { type Card, type Deck, deckWhole, shownCard } from '../../view/pending/deck.ts'
import { useApp } from '../app/app-context.ts'
import { useRouter } from '../keys/use-actions.ts'
import { Lines } from '../parts/lines.tsx'
import { useNow } from '../parts/use-now.ts'
import type { Line } from '../text/line.ts'
import { wrapLine } from '../text/wrap.ts'
import { BORDER_COLUMNS, boxLines } from './card-box.ts'
import { cardBody, cardView } from './card-layout.ts'
import { footWords } from './foot-words.ts'
import { settledLines } from './settled-lines.ts'
import { useCardKeys } from './use-card-keys.ts'
import { useDeck } from './use-deck.ts'
import { useStoredTexts } from './use-stored-texts.ts'

/** What a card needs. */
export interface PendingCardProps {
  readonly sessionId: string
  readonly columns: number
  /** At most so many rows are drawn. */
  readonly maxRows: number
  readonly isFocused: boolean
  readonly projection: SessionProjection
  /** Why nothing can be answered now. */
  readonly reason?: string | null
  /** Something newly waits: the card may have the keys. */
  readonly onWantFocus?: () => void
  /** Something was typed that means nothing on the card. */
  readonly onStray?: (text: string, isPaste: boolean) => void
  /** ms; for tests. */
  readonly clock?: () => number
}

/** What waits for the person in this session, the oldest first, and what others have settled of it. Source: experience 6.3, 7.1. */
export function PendingCard(props: PendingCardProps) {
  const { sessionId, columns, maxRows, isFocused, projection, clock = Date.now, onWantFocus, onStray = IGNORED } = props
  const app = useApp()
  const { deck, cell } = useDeck(sessionId, projection, clock)
  const card = shownCard(deck)
  useNow(card !== undefined || deck.settled.length > 0)
  useWish(card, onWantFocus)
  const { lines, reading } = useCardLines(props, deck, clock())
  const [top, setTop] = reading.place
  useCardKeys(
    {
      ...{ app, cell, sessionId, clock, onStray },
      reading: {
        isHidden: reading.isHidden,
        isWhole: card?.isWhole ?? false,
        setWhole: isWhole => {
          setTop(0)
          cell.set(deckWhole(cell.now(), isWhole))
        },
        scroll: step => setTop(Math.min(reading.last, Math.max(0, Math.min(reading.last, top) + step * reading.room))),
      },
    },
    isFocused,
  )
  return lines.length === 0 ? null : <Lines lines={lines.slice(0, maxRows)} columns={columns} />
}

const IGNORED = (): void => {}

/** Asks for the keys once for each card that comes to be shown. */
function useWish(card: Card | undefined, onWantFocus: (() => void) | undefined): void {
  const shown = card?.interaction.interactionId
  const wish = useRef(onWantFocus)
  wish.current = onWantFocus
  useEffect(() => {
    if (shown !== undefined) wish.current?.()
  }, [shown])
}

/** What can be read of a card: how much is seen at once, and the last line that can be the first one. */
interface Reading {
  readonly isHidden: boolean
  readonly room: number
  readonly last: number
  readonly place: readonly [number, (top: number) => void]
}

function useCardLines(
  { columns, maxRows, isFocused, projection, reason = null }: PendingCardProps,
  deck: Deck,
  now: number,
): { readonly lines: readonly Line[]; readonly reading: Reading } {
  const { table } = useRouter()
  const place = useState(0)
  const card = shownCard(deck)
  const { entries } = projection.transcript
  const first = useMemo(() => (card === undefined ? EMPTY : cardHead(card, entries)), [card, entries])
  const texts = useStoredTexts(card?.isWhole === true ? first.missing : NONE)
  const width = columns - BORDER_COLUMNS
  const body = useMemo(() => {
    if (card === undefined) return null
    return cardBody(cardHead(card, entries, texts), cardRows(card), { columns: width, hasKeys: isFocused })
  }, [card, entries, texts, width, isFocused])
  const told = settledLines(deck.settled, { columns, now, isAlone: card === undefined })
  if (card === undefined || body === null) return { lines: told, reading: { isHidden: false, room: 1, last: 0, place } }
  const words = card.words === null ? [] : wrapLine([{ text: `! ${card.words}`, tone: 'warn' }], width)
  const room = Math.max(1, maxRows - told.length - words.length - 2)
  const key = shortChord(table.keysOf('pending.show_all', 'pending')[0] ?? 'palette')
  const view = cardView(body, { room, isWhole: card.isWhole, top: place[0], key })
  const box = boxLines({
    title: cardTitle(deck, card, now),
    foot: footWords({ card, hasKeys: isFocused, reason, isHidden: view.isHidden }, table),
    lines: [...view.lines, ...words],
    columns,
    hasKeys: isFocused,
  })
  const last = Math.max(0, body.all.length - view.headRoom)
  return { lines: [...told, ...box], reading: { isHidden: view.isHidden, room: view.headRoom, last, place } }
}

const EMPTY = { parts: [], missing: [] } as const
const NONE = [] as const
