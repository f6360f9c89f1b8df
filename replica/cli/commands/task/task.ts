import type { Task } from '../../../../schema/entities/task.ts'
import type { LeaderConnection } from '../../../client/types.ts'
import type { CommandBody } from '../../context.ts'
import { CliFailure, usage } from '../../failure.ts'
import { resolveSession } from '../../reach/named-session.ts'
import { taskText } from './task-text.ts'

/** `headwater task`: `--json` gives the whole list in the shape of a page of the leader. */
export const body: CommandBody = async (context, { args: [typed = '', verb = 'list'], options }) => {
  if (verb !== 'list') throw usage(`unknown verb '${verb}'; did you mean list?`, 'headwater task ID list')
  const connection = await context.connect({ spawn: 'known_root' })
  const sessionId = await resolveSession(context, connection, typed)
  const { revision, tasks: all } = await readTasks(connection, sessionId, context.signal)
  const tasks = options.status === undefined ? all : all.filter(task => task.status === options.status)
  if (tasks.length === 0) context.notices.notice(all.length === 0 ? 'no tasks' : 'no such tasks')
  return {
    result: { kind: 'page', sessionId, revision, tasks, nextCursor: null },
    text: tasks.length === 0 ? '' : taskText(context.out, tasks),
  }
}

/** How often a list that moves while it is read is begun again. */
const ATTEMPTS = 8

/** The whole list, as it was at one revision. Source: K3. */
async function readTasks(
  connection: LeaderConnection,
  sessionId: string,
  signal: AbortSignal,
): Promise<{ readonly revision: string; readonly tasks: readonly Task[] }> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const tasks: Task[] = []
    let answer = await connection.request('task.ledger.query', { kind: 'list_start', sessionId }, { signal })
    while (answer.kind === 'page') {
      const { revision, nextCursor: cursor } = answer
      tasks.push(...answer.tasks)
      if (cursor === null) return { revision, tasks }
      answer = await connection.request(
        'task.ledger.query',
        { kind: 'list_continue', sessionId, revision, cursor },
        { signal },
      )
    }
  }
  throw new CliFailure('rate_limited', 'The tasks change faster than they can be read.', {
    next: `headwater task ${sessionId} list`,
  })
}
