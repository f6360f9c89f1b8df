import { useMemo, useState } from 'react'
import type { Task } from '../../../schema/entities/task.ts'
import { useSessionView } from '../../react/hooks/use-views.ts'
import type { SessionView } from '../../react/types.ts'
import {
  countWords,
  filterWords,
  nextFilter,
  type TaskFilter,
  type TaskRow,
  taskRows,
} from '../../view/tasks/task-rows.ts'
import { terminalLine } from '../../view/terminal-text.ts'
import { useApp } from '../app/app-context.ts'
import { useActions } from '../keys/use-actions.ts'
import { Lines } from '../parts/lines.tsx'
import { type TypedFilter, useFilter } from '../parts/use-filter.ts'
import { type MarkedRows, useMarkedRows } from '../parts/use-marked-rows.ts'
import { taskLines } from '../tasks/task-lines.ts'
import { type Line, lineOf } from '../text/line.ts'
import { wrapLine } from '../text/wrap.ts'

const NONE: readonly Task[] = []

/** The work that the agent has written down, as a tree, to be read. Source: K1, K3, experience 6.4. */
export function TasksScreen({
  sessionId,
  columns,
  rows,
}: {
  readonly sessionId: string
  readonly columns: number
  readonly rows: number
}) {
  const view = useSessionView(sessionId)
  const items = view.projection?.tasks.items ?? NONE
  const filter = useFilter()
  const [state, setState] = useState<TaskFilter>('all')
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  const shown = useMemo(() => taskRows(items, { filter: state, text: filter.text }), [items, state, filter.text])
  const mark = useMarkedRows(useMemo(() => shown.map(({ id }) => id), [shown]))
  const top = topLines({ items, state, columns }, filter)
  const room = Math.max(1, rows - top.length)
  const drawn = shown.map((row, index) =>
    taskLines(row, { columns, isMarked: index === mark.at, isUnfolded: open.has(row.id) }),
  )
  const from = mark.from(
    drawn.map(lines => lines.length),
    room,
  )
  const marked = shown[mark.at]
  useTaskKeys({
    sessionId,
    mark,
    filter,
    page: Math.max(1, room - 1),
    marked,
    isFiltered: state !== 'all',
    unfold: id => setOpen(before => toggled(before, id)),
    cycle: () => setState(before => nextFilter(before, items)),
    showAll: () => setState('all'),
  })
  const body = drawn.length === 0 ? emptyLines(view, columns) : drawn.flat().slice(from, from + room)
  return <Lines lines={[...top, ...body]} columns={columns} rows={rows} />
}

function toggled(before: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const after = new Set(before)
  if (!after.delete(id)) after.add(id)
  return after
}

function useTaskKeys({
  sessionId,
  mark,
  filter,
  page,
  marked,
  isFiltered,
  unfold,
  cycle,
  showAll,
}: {
  readonly sessionId: string
  readonly mark: MarkedRows
  readonly filter: TypedFilter
  readonly page: number
  readonly marked: TaskRow | undefined
  readonly isFiltered: boolean
  unfold(id: string): void
  cycle(): void
  showAll(): void
}): void {
  const app = useApp()
  useActions({
    context: 'tasks',
    handlers: {
      'move.up': () => mark.move(-1),
      'move.down': () => mark.move(1),
      'move.page_up': () => mark.move(-page),
      'move.page_down': () => mark.move(page),
      'move.top': () => mark.toFirst(),
      'move.bottom': () => mark.toLast(),
      'item.open': () => (marked === undefined ? false : unfold(marked.id)),
      'item.copy': () => (marked === undefined ? false : app.copy(terminalLine(marked.subject))),
      'search.open': () => filter.open(),
      'tasks.filter': () => cycle(),
      'plan.open': () => app.go({ name: 'plan', sessionId }),
      'inspector.open': () => app.go({ name: 'inspector', sessionId }),
      'session.list': () => app.go({ name: 'list' }),
      'session.switch': () => app.show({ kind: 'switcher' }),
      'screen.back': () => (isFiltered ? showAll() : app.back()),
    },
  })
}

function topLines(
  { items, state, columns }: { readonly items: readonly Task[]; readonly state: TaskFilter; readonly columns: number },
  filter: TypedFilter,
): readonly Line[] {
  const only = filterWords(state)
  const counts: Line = [
    ...(only === '' ? [] : [{ text: `${only} · `, tone: 'warn' as const }]),
    { text: countWords(items), bold: true },
    { text: ' · read only', tone: 'dim' },
  ]
  return [
    ...wrapLine(counts, columns - 2).map((line): Line => [{ text: ' ' }, ...line]),
    ...(filter.isOpen
      ? [[{ text: ' / ', tone: 'accent' as const }, { text: terminalLine(filter.text) }, { text: ' ', inverse: true }]]
      : []),
  ]
}

function emptyLines({ projection, failure }: SessionView, columns: number): readonly Line[] {
  const text =
    failure !== null
      ? terminalLine(failure.message)
      : projection === null
        ? 'Looking for the tasks …'
        : projection.tasks.items.length === 0
          ? 'The agent has written down no tasks.'
          : 'No task is like that. Esc shows all again.'
  return [[], ...wrapLine(lineOf(text, { tone: 'dim' }), columns - 4).map((line): Line => [{ text: '   ' }, ...line])]
}
