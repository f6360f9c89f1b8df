import type { Task } from '../../../../schema/entities/task.ts'
import { terminalLine } from '../../../view/terminal-text.ts'
import { taskWords } from '../../../view/words.ts'
import type { Output } from '../../output/output.ts'
import { renderTable } from '../../output/table.ts'

const MARKS = {
  pending: '[ ]',
  in_progress: '[>]',
  blocked: '[?]',
  completed: '[x]',
  failed: '[!]',
  cancelled: '[-]',
} as const

/** Tasks in order of their keys: in a terminal as a tree with what is said about each below it, elsewhere one a line. */
export function taskText(out: Pick<Output, 'columns'>, tasks: readonly Task[]): string {
  if (out.columns === undefined) return renderTable(COLUMNS, tasks.map(fieldsOf))
  return tasks.flatMap(treeLines).join('\n')
}

const COLUMNS = ['KEY', 'STATUS', 'TASK', 'OWNER', 'NOTE'].map(heading => ({ heading }))

function fieldsOf(task: Task): readonly string[] {
  return [task.key, taskWords(task.status), task.subject, task.owner ?? '', noteOf(task) ?? '']
}

function treeLines(task: Task): readonly string[] {
  const { key, subject, status, owner } = task
  const indent = '  '.repeat(key.split('.').length - 1)
  const note = noteOf(task)
  const who = owner === undefined ? '' : `, ${owner}`
  return [
    terminalLine(`${indent}${key} ${MARKS[status]} ${subject} (${taskWords(status)}${who})`),
    ...(note === undefined ? [] : [terminalLine(`${indent}    ${note}`)]),
  ]
}

/** Why it waits or failed, or what shows that it is done. */
function noteOf({ blockedReason, failureReason, completionEvidence }: Task): string | undefined {
  return blockedReason ?? failureReason ?? completionEvidence
}
