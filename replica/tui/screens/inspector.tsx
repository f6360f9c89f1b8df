import { useEffect, useMemo } from 'react'
import { useLedger } from '../../react/hooks/use-ledger.ts'
import { useSessionView } from '../../react/hooks/use-views.ts'
import type { LedgerView } from '../../react/ledger/ledger-feed.ts'
import { terminalLine } from '../../view/terminal-text.ts'
import { filterTimeline, groupByTurn } from '../../view/timeline/timeline.ts'
import { useApp } from '../app/app-context.ts'
import { RecordDetail } from '../inspector/record-detail.tsx'
import { factsLines, plotLines } from '../inspector/summary-lines.ts'
import { timelineItems, timelineLine } from '../inspector/timeline-lines.ts'
import { ONLY_LEADER, type RecordLooking, useRecordLook } from '../inspector/use-record-look.ts'
import { type TimelineMark, useTimelineMark } from '../inspector/use-timeline-mark.ts'
import { useActions } from '../keys/use-actions.ts'
import { Lines } from '../parts/lines.tsx'
import { type TypedFilter, useFilter } from '../parts/use-filter.ts'
import { type Line, lineOf } from '../text/line.ts'

/** From so many rows on there is room for plots. */
const PLOTS_FROM = 14

interface InspectorProps {
  readonly sessionId: string
  readonly columns: number
  readonly rows: number
}

/** What happened in a session, step by step: who, when, and how long it took. Source: experience 9.1. */
export function InspectorScreen({ sessionId, columns, rows }: InspectorProps) {
  const view = useSessionView(sessionId)
  const ledger = useLedger(sessionId)
  const filter = useFilter()
  const looking = useRecordLook(ledger)
  const items = useMemo(
    () => timelineItems(groupByTurn(filterTimeline(ledger.rows, filter.text))),
    [ledger.rows, filter.text],
  )
  const top = useMemo(
    () => [...factsLines(view.projection), ...(rows >= PLOTS_FROM ? plotLines(ledger, columns) : [])],
    [view.projection, ledger, rows, columns],
  )
  const isOffline = view.freshness.state === 'offline'
  const notes = [...noteLines(ledger, { isOffline, isEmpty: items.length === 0 }), ...filterLines(filter)]
  const room = Math.max(1, rows - top.length - notes.length)
  const mark = useTimelineMark(items, room)
  const wantsOlder = mark.from === 0 && mark.at !== -1 && ledger.hasOlder && filter.text === ''
  useEffect(() => {
    if (wantsOlder && ledger.failure === null) void ledger.loadOlder()
  }, [wantsOlder, ledger])
  const marked = items[mark.at]
  useInspectorKeys({
    sessionId,
    mark,
    looking,
    filter,
    page: Math.max(1, room - 1),
    revision: marked?.kind === 'row' ? marked.row.revision : null,
    loadOlder: ledger.loadOlder,
  })
  if (looking.look !== null)
    return <RecordDetail look={looking.look} columns={columns} rows={rows} onBack={looking.close} />
  const lines = items
    .slice(mark.from, mark.from + room)
    .map((each, index) => timelineLine(each, columns, mark.from + index === mark.at))
  const empty = Array.from({ length: Math.max(0, room - lines.length) }, (): Line => [])
  return <Lines lines={[...top, ...lines, ...empty, ...notes]} columns={columns} rows={rows} />
}

function useInspectorKeys({
  sessionId,
  mark,
  looking,
  filter,
  page,
  revision,
  loadOlder,
}: {
  readonly sessionId: string
  readonly mark: TimelineMark
  readonly looking: RecordLooking
  readonly filter: TypedFilter
  readonly page: number
  readonly revision: number | null
  loadOlder(): Promise<void>
}): void {
  const app = useApp()
  const up = (records: number): void => {
    if (mark.move(-records)) void loadOlder()
  }
  useActions(
    {
      context: 'inspector',
      handlers: {
        'move.up': () => up(1),
        'move.down': () => mark.move(1),
        'move.page_up': () => up(page),
        'move.page_down': () => mark.move(page),
        'move.top': () => mark.toFirst(),
        'move.bottom': () => mark.toLast(),
        'search.open': () => filter.open(),
        'item.open': () => looking.open(revision),
        'item.copy': () => looking.copy(revision),
        'session.list': () => app.go({ name: 'list' }),
        'session.switch': () => app.show({ kind: 'switcher' }),
        'plan.open': () => app.go({ name: 'plan', sessionId }),
        'tasks.open': () => app.go({ name: 'tasks', sessionId }),
        'screen.back': () => app.back(),
      },
    },
    looking.look === null,
  )
}

/** What keeps the timeline from being whole. */
function noteLines(
  { failure, rows }: Pick<LedgerView, 'failure' | 'rows'>,
  { isOffline, isEmpty }: { readonly isOffline: boolean; readonly isEmpty: boolean },
): readonly Line[] {
  if (failure !== null) return [lineOf(` ${terminalLine(failure.message)}`, { tone: 'bad' })]
  if (isOffline) return [lineOf(` ${ONLY_LEADER}`, { tone: 'warn' })]
  if (rows.length === 0) return [lineOf(' reading the ledger …', { tone: 'dim' })]
  return isEmpty ? [lineOf(' No record is like that. Esc shows all again.', { tone: 'dim' })] : []
}

function filterLines({ isOpen, text }: TypedFilter): readonly Line[] {
  if (!isOpen) return []
  return [[{ text: ' / ', tone: 'accent' }, { text: terminalLine(text) }, { text: ' ', inverse: true }]]
}
