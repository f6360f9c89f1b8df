import { Box } from 'ink'
import { useMemo, useSyncExternalStore } from 'react'
import { isTerminal } from '../../../schema/entities/turn.ts'
import { useReadable } from '../../react/hooks/use-readable.ts'
import type { Readable, SessionView } from '../../react/types.ts'
import { type FreshnessWords, freshnessWords } from '../../view/freshness-words.ts'
import type { HintWords } from '../../view/keymap/hints.ts'
import { titleOf } from '../../view/session-list.ts'
import { hintLine } from '../keys/hint-line.ts'
import { useRouter } from '../keys/use-actions.ts'
import { Overlays } from '../overlays/overlays.tsx'
import { Lines } from '../parts/lines.tsx'
import { useNow } from '../parts/use-now.ts'
import type { Told } from '../parts/use-telling.ts'
import { InspectorScreen } from '../screens/inspector.tsx'
import { ListScreen } from '../screens/list.tsx'
import { SessionScreen } from '../screens/session.tsx'
import { TasksScreen } from '../screens/tasks.tsx'
import type { TerminalControls } from '../terminal/controls.ts'
import { type Line, lineOf, ruleLine } from '../text/line.ts'
import { useApp } from './app-context.ts'
import { headerLine } from './header-line.ts'
import { sessionOf } from './route-stack.ts'
import { useAttention } from './use-attention.ts'
import { useGlobalActions } from './use-global-actions.ts'

/** Below this the header and the hints go, and below that one sentence asks for room; in cells of the whole terminal. Source: experience 7.1. */
const SMALL = { columns: 60, rows: 16 } as const
const TOO_SMALL = { columns: 40, rows: 10 } as const

/** The whole screen: header, what the person looks at, hints. */
export function Frame({ told, terminal }: { readonly told: Told | null; readonly terminal: TerminalControls }) {
  const { size, overlay } = useApp()
  const { columns, rows } = size
  useGlobalActions(terminal)
  useAttention(terminal)
  if (columns < TOO_SMALL.columns || rows + 1 < TOO_SMALL.rows) {
    const sentence = `This needs at least ${TOO_SMALL.columns} columns and ${TOO_SMALL.rows} rows.`
    return <Lines lines={[lineOf(sentence)]} columns={columns} rows={rows} />
  }
  const isSmall = columns < SMALL.columns || rows + 1 < SMALL.rows
  const bodyRows = isSmall ? rows - 1 : rows - 3
  return (
    <Box flexDirection="column" width={columns} height={rows} overflow="hidden">
      {isSmall ? null : <Header columns={columns} />}
      <Box width={columns} height={bodyRows} overflow="hidden" flexDirection="column">
        <Box display={overlay === null ? 'flex' : 'none'} flexDirection="column">
          <Screen columns={columns} rows={bodyRows} />
        </Box>
        {overlay === null ? null : <Overlays key={overlay.kind} overlay={overlay} columns={columns} rows={bodyRows} />}
      </Box>
      <BottomRow told={told} columns={columns} isSmall={isSmall} />
    </Box>
  )
}

function Screen({ columns, rows }: { readonly columns: number; readonly rows: number }) {
  const { route } = useApp()
  switch (route.name) {
    case 'list':
      return <ListScreen columns={columns} rows={rows} />
    case 'session':
      return (
        <SessionScreen
          key={route.sessionId}
          sessionId={route.sessionId}
          isNew={route.isNew === true}
          columns={columns}
          rows={rows}
        />
      )
    case 'tasks':
      return <TasksScreen key={route.sessionId} sessionId={route.sessionId} columns={columns} rows={rows} />
    case 'inspector':
      return <InspectorScreen key={route.sessionId} sessionId={route.sessionId} columns={columns} rows={rows} />
    default:
      return null
  }
}

function useFreshnessWords(): FreshnessWords {
  const { store } = useApp()
  const link = useReadable(store.link)
  const catalog = useReadable(store.catalog)
  const shown = useShownSession()
  const now = useNow(link.kind === 'lost')
  return freshnessWords(link, shown?.freshness ?? (link.kind === 'connected' ? link.freshness : catalog.freshness), now)
}

const NO_SESSION: Readable<null> = { getSnapshot: () => null, subscribe: () => () => {} }

/** The session this screen is about, if it is about one and something of it is known. */
function useShownSession(): SessionView | null {
  const { store, route } = useApp()
  const sessionId = sessionOf(route)
  const readable = useMemo<Readable<SessionView | null>>(
    () => (sessionId === undefined ? NO_SESSION : store.session(sessionId)),
    [store, sessionId],
  )
  const view = useReadable(readable)
  return view === null || view.projection === null ? null : view
}

/** What the usual keys do at this moment, in other words than usual. */
function useHintWords(): HintWords {
  const { store } = useApp()
  const isLost = useReadable(store.link).kind === 'lost'
  const turn = useShownSession()?.projection?.rootTurn ?? null
  const words = turn !== null && !isTerminal(turn.status) ? WHILE_RUNNING : WHILE_IDLE
  return isLost ? words : { ...words, 'connection.retry': null }
}

const WHILE_RUNNING: HintWords = { 'composer.send': 'queue', 'composer.queue': null }
const WHILE_IDLE: HintWords = { 'turn.interrupt': null, 'queue.steer': null, 'composer.queue': null }

function Header({ columns }: { readonly columns: number }) {
  const { store, route } = useApp()
  const { rows } = useReadable(store.catalog)
  const freshness = useFreshnessWords()
  const sessionId = sessionOf(route)
  const row = rows?.find(known => known.sessionId === sessionId)
  const title = sessionId === undefined ? 'sessions' : row === undefined ? 'new session' : titleOf(row)
  const replicas = useShownSession()?.projection?.presenceCount ?? 0
  const waiting = rows?.reduce((sum, { pendingCount }) => sum + pendingCount, 0) ?? 0
  return (
    <Lines
      lines={[headerLine({ title, waiting, replicas, freshness }, columns), ruleLine(columns)]}
      columns={columns}
      rows={2}
    />
  )
}

/** What was told, else the keys that do something; on a small screen the freshness too, which has no other place there. */
function BottomRow({
  told,
  columns,
  isSmall,
}: {
  readonly told: Told | null
  readonly columns: number
  readonly isSmall: boolean
}) {
  const router = useRouter()
  useSyncExternalStore(
    listener => router.subscribe(listener),
    () => router.version,
  )
  const freshness = useFreshnessWords()
  const words = useHintWords()
  const line: Line =
    told !== null
      ? [{ text: ' ' }, { text: told.text, tone: told.tone }]
      : isSmall
        ? [{ text: ` ${freshness.symbol} ${freshness.words}`, tone: freshness.tone }]
        : hintLine(router.offered(), router.table, { columns, words })
  return <Lines lines={[line]} columns={columns} rows={1} />
}
