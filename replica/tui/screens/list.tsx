import { useMemo, useRef, useState } from 'react'
import { useReadable } from '../../react/hooks/use-readable.ts'
import { type SessionRow, sessionRows } from '../../view/session-list.ts'
import { terminalLine } from '../../view/terminal-text.ts'
import { useApp } from '../app/app-context.ts'
import { useActions } from '../keys/use-actions.ts'
import { Lines } from '../parts/lines.tsx'
import { useFilter } from '../parts/use-filter.ts'
import { useNow } from '../parts/use-now.ts'
import { visibleFrom } from '../parts/visible-from.ts'
import { outcomeOf } from '../session/outcome.ts'
import { type Line, lineOf } from '../text/line.ts'
import { headLine, rowLine } from './list-lines.ts'

/** Times of activity need no finer step. Unit: ms. */
const STEP_MS = 30_000

/** All sessions: who waits first, then the most recently active. Source: experience 6.4, 7.1. */
export function ListScreen({ columns, rows }: { readonly columns: number; readonly rows: number }) {
  const app = useApp()
  const catalog = useReadable(app.store.catalog)
  const now = Math.floor(useNow(true) / STEP_MS) * STEP_MS
  const filter = useFilter()
  const [showArchived, setShowArchived] = useState(false)
  const [markedId, setMarkedId] = useState<string | null>(null)
  const from = useRef(0)
  const found = useMemo(
    () => sessionRows(catalog.rows ?? [], { filter: filter.text, showArchived, now }),
    [catalog.rows, filter.text, showArchived, now],
  )
  const room = Math.max(1, rows - 1)
  const at = Math.max(
    0,
    found.findIndex(({ sessionId }) => sessionId === markedId),
  )
  from.current = visibleFrom(at, { count: found.length, room, before: from.current })
  const markAt = (index: number) =>
    setMarkedId(found[Math.min(found.length - 1, Math.max(0, index))]?.sessionId ?? null)
  const marked = found[at]
  useActions({
    context: 'list',
    handlers: {
      'move.up': () => markAt(at - 1),
      'move.down': () => markAt(at + 1),
      'move.top': () => markAt(0),
      'move.bottom': () => markAt(found.length - 1),
      'move.page_up': () => markAt(at - room),
      'move.page_down': () => markAt(at + room),
      'item.open': () => {
        if (marked === undefined) return false
        filter.close()
        app.go({ name: 'session', sessionId: marked.sessionId })
        return true
      },
      'item.copy': () => (marked === undefined ? false : app.copy(marked.sessionId)),
      'search.open': () => filter.open(),
      'list.archived': () => setShowArchived(!showArchived),
      'session.new': () => app.newSession(),
      'session.switch': () => app.show({ kind: 'switcher' }),
      'session.archive': () => (marked === undefined ? false : void toggleArchived(app, marked)),
      'session.rename': () =>
        marked === undefined ? false : app.show({ kind: 'rename', sessionId: marked.sessionId }),
      'plan.open': () => (marked === undefined ? false : app.go({ name: 'plan', sessionId: marked.sessionId })),
      'tasks.open': () => (marked === undefined ? false : app.go({ name: 'tasks', sessionId: marked.sessionId })),
      'inspector.open': () =>
        marked === undefined ? false : app.go({ name: 'inspector', sessionId: marked.sessionId }),
      'screen.back': () => (showArchived ? setShowArchived(false) : false),
    },
  })
  const top = filter.isOpen || showArchived ? filterLine(filter.text, showArchived, filter.isOpen) : headLine(columns)
  const shown = found.slice(from.current, from.current + room)
  const body =
    found.length > 0
      ? shown.map((row, index) => rowLine(row, columns, from.current + index === at))
      : emptyLines(
          catalog.rows === null ? 'unknown' : filter.text !== '' ? 'no match' : showArchived ? 'no archived' : 'none',
        )
  return <Lines lines={[top, ...body]} columns={columns} rows={rows} />
}

function filterLine(text: string, showArchived: boolean, isOpen: boolean): Line {
  return [
    { text: showArchived ? ' archived sessions ' : ' ', tone: 'warn' },
    ...(isOpen
      ? ([{ text: '/ ', tone: 'accent' }, { text: terminalLine(text) }, { text: ' ', inverse: true }] as const)
      : []),
  ]
}

function emptyLines(why: 'unknown' | 'no match' | 'no archived' | 'none'): Line[] {
  switch (why) {
    case 'unknown':
      return [lineOf('   Looking for the sessions …', { tone: 'dim' })]
    case 'no match':
      return [lineOf('   No session is called so. Esc shows all again.', { tone: 'dim' })]
    case 'no archived':
      return [lineOf('   Nothing was put away.', { tone: 'dim' })]
    case 'none':
      return [
        [],
        lineOf('   No sessions yet.', { bold: true }),
        [],
        [
          { text: '   Press ' },
          { text: 'n', bold: true },
          { text: ' to start one, or run ' },
          { text: 'headwater run "…"', tone: 'code' },
        ],
        lineOf('   in another terminal. It will show up here.'),
      ]
  }
}

async function toggleArchived(app: ReturnType<typeof useApp>, row: SessionRow): Promise<void> {
  const commands = app.sessionCommands(row.sessionId)
  const outcome = await outcomeOf(row.isArchived ? commands.unarchiveSession({}) : commands.archiveSession({}))
  if (!outcome.ok) app.tell(outcome.sentence, 'warn')
  else app.tell(row.isArchived ? `back in the list: ${row.title}` : `put away: ${row.title}; a shows what was put away`)
}
