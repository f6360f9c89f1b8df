import type { SessionProjection } from '../../../schema/entities/projection.ts'
import { pasted, typed } from '../../view/composer/editor.ts'
import { useApp } from '../app/app-context.ts'
import { PendingCard } from '../pending/pending-card.tsx'
import type { SessionFocus } from './focus-ring.ts'

/**
 * The card above the composer. It takes the keys when something begins to wait and nobody writes; what is typed and means nothing on it goes to
 * the composer, and the keys with it. Source: experience 6.3, 7.1.
 */
export function WaitingCard({
  sessionId,
  draftKey,
  projection,
  reason,
  columns,
  maxRows,
  isFocused,
  setFocus,
}: {
  readonly sessionId: string
  readonly draftKey: string
  readonly projection: SessionProjection
  readonly reason: string | null
  readonly columns: number
  readonly maxRows: number
  readonly isFocused: boolean
  readonly setFocus: (change: (before: SessionFocus) => SessionFocus) => void
}) {
  const { drafts } = useApp()
  return (
    <PendingCard
      sessionId={sessionId}
      columns={columns}
      maxRows={maxRows}
      isFocused={isFocused}
      projection={projection}
      reason={reason}
      onWantFocus={() => {
        // A draft that is still on the disk counts too.
        void drafts.open(draftKey).then(() => {
          if (drafts.get(draftKey).editor.text === '') setFocus(before => (before === 'composer' ? 'pending' : before))
        })
      }}
      onStray={(text, isPaste) => {
        drafts.edit(draftKey, editor => (isPaste ? pasted(editor, text) : typed(editor, text)))
        setFocus(() => 'composer')
      }}
    />
  )
}

/** How the rows of a session screen are shared while something waits: the composer gives way to the card, and on a small screen all else too. */
export function rowsWithCard(rows: number): { readonly composer: number; readonly card: number } {
  const isSmall = rows < SMALL_ROWS
  const composer = isSmall ? 1 : SMALL_COMPOSER_ROWS
  return { composer, card: Math.max(3, rows - composer - STATUS_ROWS - (isSmall ? 0 : KEPT_ROWS)) }
}

const SMALL_ROWS = 18
const SMALL_COMPOSER_ROWS = 3
const STATUS_ROWS = 1
/** Of the conversation, with the rule below it. */
const KEPT_ROWS = 3
