import { Box, type DOMElement, measureElement } from 'ink'
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { SessionProjection } from '../../../schema/entities/projection.ts'
import { isTerminal } from '../../../schema/entities/turn.ts'
import { useTranscript } from '../../react/hooks/use-lists.ts'
import { useLink, useSessionView } from '../../react/hooks/use-views.ts'
import type { SessionView } from '../../react/types.ts'
import { notNowWords } from '../../view/availability-words.ts'
import { useApp } from '../app/app-context.ts'
import { Composer } from '../composer/composer.tsx'
import { useActions } from '../keys/use-actions.ts'
import { Lines } from '../parts/lines.tsx'
import { effectiveFocus, nextFocus, type SessionFocus } from '../session/focus-ring.ts'
import { Notices } from '../session/notices.tsx'
import { StatusRow } from '../session/status-row.tsx'
import { useInterrupt } from '../session/use-interrupt.ts'
import { useSending } from '../session/use-sending.ts'
import { useSessionWays } from '../session/use-session-ways.ts'
import { rowsWithCard, WaitingCard } from '../session/waiting-card.tsx'
import { ruleLine } from '../text/line.ts'
import { Transcript } from '../transcript/transcript.tsx'

/** From so many rows on, a rule stands between what was said and what is written. */
const RULE_FROM_ROWS = 18

/** The composer's rows at most. Source: experience 7.1. */
const COMPOSER_ROWS = 8

/** One session: what was said and done, what waits, and where to write. Source: experience 7.1. */
export function SessionScreen({
  sessionId,
  isNew: wasNew,
  columns,
  rows,
}: {
  readonly sessionId: string
  readonly isNew: boolean
  readonly columns: number
  readonly rows: number
}) {
  const app = useApp()
  const view = useSessionView(sessionId)
  const transcript = useTranscript(sessionId)
  const { projection } = view
  const { isNew, draftKey, send, reason } = useWriting(sessionId, { wasNew, view })
  const { focus, setFocus } = useFocus(sessionId, projection)
  const isRunning = projection !== null && projection.rootTurn !== null && !isTerminal(projection.rootTurn.status)
  const { ref, height } = useHeight(rows)
  const isWaiting = (projection?.interactions.pending.length ?? 0) > 0
  const shares = rowsWithCard(rows)
  return (
    <Box flexDirection="column" width={columns} height={rows}>
      <Box ref={ref} flexGrow={1} flexShrink={1} overflow="hidden" flexDirection="column" justifyContent="flex-end">
        <Transcript
          sessionId={sessionId}
          columns={columns}
          rows={height}
          isFocused={focus === 'transcript'}
          entries={transcript.entries}
          hasMore={transcript.hasMore}
          isLoadingEarlier={transcript.isLoading}
          loadEarlier={transcript.loadEarlier}
          rootTurn={projection?.rootTurn ?? null}
          asOf={view.freshness.asOf}
        />
      </Box>
      {rows < RULE_FROM_ROWS ? null : <Lines lines={[ruleLine(columns)]} columns={columns} rows={1} />}
      <Notices view={view} isNew={isNew} columns={columns} />
      {projection === null ? null : (
        <WaitingCard
          {...{ sessionId, draftKey, projection, reason, columns, setFocus }}
          maxRows={shares.card}
          isFocused={focus === 'pending'}
        />
      )}
      <Composer
        sessionId={sessionId}
        draftKey={draftKey}
        drafts={app.drafts}
        history={app.history}
        columns={columns}
        maxRows={isWaiting ? shares.composer : Math.max(1, Math.min(COMPOSER_ROWS, Math.floor(rows / 3)))}
        isFocused={focus === 'composer'}
        isRunning={isRunning}
        isWaiting={isWaiting}
        canSend={reason === null}
        {...(reason === null ? {} : { reason })}
        onSend={send}
        onRecall={() => false}
        onSlash={() => {
          app.show({ kind: 'palette', onCancel: () => app.drafts.putBack(draftKey, '/') })
          return true
        }}
      />
      {projection === null ? null : <StatusRow projection={projection} columns={columns} />}
    </Box>
  )
}

/** The height that the layout gave to a box, known before anybody sees the frame. */
function useHeight(first: number) {
  const ref = useRef<DOMElement>(null)
  const [height, setHeight] = useState(first)
  useLayoutEffect(() => {
    if (ref.current === null) return
    const measured = measureElement(ref.current).height
    if (measured !== height) setHeight(measured)
  })
  return { ref, height }
}

/** What can be sent, and why nothing can. A session that is new is made with its first message. */
function useWriting(sessionId: string, { wasNew, view }: { readonly wasNew: boolean; readonly view: SessionView }) {
  const link = useLink()
  const { drafts, options } = useApp()
  const [isMade, setIsMade] = useState(false)
  const isNew = wasNew && !isMade && view.projection === null
  const newDraft = `new ${options.address}`
  const draftKey = isNew ? newDraft : sessionId
  const onMade = useCallback(() => {
    drafts.rename(newDraft, sessionId)
    setIsMade(true)
  }, [drafts, newDraft, sessionId])
  const send = useSending(sessionId, { isNew, onMade })
  const notNow = notNowWords(link, 'freshness' in link ? link.freshness : view.freshness)
  return { isNew, draftKey, send, reason: notNow ?? (isNew ? null : (view.failure?.message ?? null)) }
}

/** Which part has the keys, with the keys that change that and stop the turn. */
function useFocus(sessionId: string, projection: SessionProjection | null) {
  const [wanted, setFocus] = useState<SessionFocus>('composer')
  const interrupt = useInterrupt(sessionId, projection)
  const present = {
    hasPending: (projection?.interactions.pending.length ?? 0) > 0,
    hasQueue: (projection?.queue.steering.length ?? 0) + (projection?.queue.followup.length ?? 0) > 0,
  }
  const focus = effectiveFocus(wanted, present)
  // What went away does not get the keys back by itself: somebody may write when it comes again.
  useEffect(() => {
    if (wanted !== focus) setFocus(now => (now === wanted ? focus : now))
  }, [focus, wanted])
  useActions({
    context: 'transcript',
    level: 1,
    handlers: {
      'turn.interrupt': interrupt,
      'focus.next': () => setFocus(nextFocus(focus, present, 1)),
      'focus.previous': () => setFocus(nextFocus(focus, present, -1)),
    },
  })
  useSessionWays(sessionId, projection, {
    isActive: focus === 'transcript' || focus === 'queue',
    openQueue: () => setFocus('queue'),
  })
  return { focus, setFocus }
}
