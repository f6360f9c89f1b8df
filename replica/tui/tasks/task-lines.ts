import type { TaskRow } from '../../view/tasks/task-rows.ts'
import { spanOf } from '../text/clean.ts'
import type { Line, Span } from '../text/line.ts'
import { clipLine, lineWidth } from '../text/measure.ts'
import { indented, wrapLine } from '../text/wrap.ts'

/** Columns that a level of the tree is further to the right, and so many levels at most. */
const STEP = 2
const DEEPEST = 6

/** The rows of a task: one, and where it is unfolded all that is known of it below. The marked one is told by a mark, not by colour alone. */
export function taskLines(
  row: TaskRow,
  {
    columns,
    isMarked,
    isUnfolded,
  }: { readonly columns: number; readonly isMarked: boolean; readonly isUnfolded: boolean },
): readonly Line[] {
  const indent = ' '.repeat(STEP * Math.min(DEEPEST, row.depth))
  const tone = row.isMatch ? row.tone : 'dim'
  const head: Line = [
    { text: isMarked ? ' › ' : '   ', tone: 'accent', bold: isMarked },
    { text: `${indent}${row.key} `, tone: 'dim' },
    { text: `${row.mark} `, tone },
  ]
  const said: Line = [
    { text: row.state, tone },
    ...(row.owner === '' ? [] : [{ text: ' · ', tone: 'dim' } as const, spanOf(row.owner, { tone: 'dim' })]),
  ]
  if (isUnfolded) return unfolded(row, { head, said, columns, isMarked })
  const about: Line = [...said, ...(row.reason === '' ? [] : [spanOf(`: ${row.reason}`, { tone })])]
  const room = columns - lineWidth(head)
  const right = clipLine(about, Math.max(0, Math.floor(room / 2)))
  const left = clipLine([subjectSpan(row, isMarked)], Math.max(0, room - lineWidth(right) - 2))
  const gap = Math.max(0, room - lineWidth(left) - lineWidth(right) - 1)
  return [[...head, ...left, { text: ' '.repeat(gap) }, ...right]]
}

function subjectSpan(row: TaskRow, isMarked: boolean): Span {
  return spanOf(row.subject, { bold: isMarked, ...(row.isMatch ? {} : { tone: 'dim' }) })
}

function unfolded(
  row: TaskRow,
  {
    head,
    said,
    columns,
    isMarked,
  }: { readonly head: Line; readonly said: Line; readonly columns: number; readonly isMarked: boolean },
): readonly Line[] {
  const margin: Line = [{ text: ' '.repeat(Math.min(lineWidth(head), Math.floor(columns / 2))) }]
  const room = columns - lineWidth(margin) - 1
  const below = [
    said,
    ...(row.reason === '' ? [] : [[{ text: 'why: ', tone: 'dim' } as const, spanOf(row.reason)]]),
    ...(row.evidence === '' ? [] : [[{ text: 'evidence: ', tone: 'dim' } as const, spanOf(row.evidence)]]),
  ]
  return [
    ...indented(wrapLine([subjectSpan(row, isMarked)], columns - lineWidth(head) - 1), head, margin),
    ...below.flatMap(line => indented(wrapLine(line, room), margin, margin)),
  ]
}
