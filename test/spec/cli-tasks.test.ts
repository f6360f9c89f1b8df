import { expect, test } from 'vitest'
import { taskPage } from '../../leader/host/task-pages.ts'
import { canonicalDigest } from '../../schema/digest.ts'
import type { TasksProjection } from '../../schema/entities/projection.ts'
import type { Task } from '../../schema/entities/task.ts'
import { callCli } from '../support/cli/call-cli.ts'
import { FakeLeader } from '../support/cli/fake-leader.ts'

function taskOf(key: string, more: Partial<Task> = {}): Task {
  return { id: `id-${key}`, key, subject: `do ${key}`, status: 'pending', createdAt: 1, updatedAt: 1, ...more }
}

const TASKS = [
  taskOf('T1', { status: 'in_progress', owner: 'ada' }),
  taskOf('T1.1', { status: 'blocked', blockedReason: 'waits for\na key' }),
  taskOf('T1.2', { status: 'completed', completionEvidence: 'all green \u001b[31m' }),
  taskOf('T2', { status: 'failed', failureReason: 'no door', subject: 'open\u001b[2J it' }),
  taskOf('T3', { status: 'cancelled' }),
  taskOf('T4'),
]

/** A leader whose session `s` has these tasks, asked for in turn; the last ones stay. */
function withTasks(...lists: readonly (readonly Task[])[]): FakeLeader {
  const leader = new FakeLeader()
  leader.addSession('s')
  const projections = lists.map((items): TasksProjection => ({ revision: canonicalDigest(items), items }))
  leader.operations['task.ledger.query'] = input => {
    const next = projections.length > 1 ? projections.shift() : projections[0]
    return taskPage('s', next as TasksProjection, input)
  }
  return leader
}

const many = Array.from({ length: 200 }, (_, i) => taskOf(`T${i + 1}`))

test('K3 task list shows a tree in a terminal, with what is said about each, and without control sequences', async () => {
  const { stdout, code } = await callCli(['task', 's', 'list'], { leader: withTasks(TASKS), isTerminal: true })
  expect(code).toBe(0)
  expect(stdout).toBe(
    [
      'T1 [>] do T1 (in progress, ada)',
      '  T1.1 [?] do T1.1 (blocked)',
      '      waits for a key',
      '  T1.2 [x] do T1.2 (done)',
      '      all green ',
      'T2 [!] open it (failed)',
      '    no door',
      'T3 [-] do T3 (dropped)',
      'T4 [ ] do T4 (to do)',
      '',
    ].join('\n'),
  )
})

test('K3 task list gives a line of fields for each elsewhere, and the whole list as JSON', async () => {
  const leader = withTasks(TASKS)
  const { stdout } = await callCli(['task', 's'], { leader })
  const lines = stdout.split('\n').map(line => line.split('\t'))
  expect(lines.slice(0, 2)).toEqual([
    ['T1', 'in progress', 'do T1', 'ada', ''],
    ['T1.1', 'blocked', 'do T1.1', '', 'waits for a key'],
  ])
  const json = JSON.parse((await callCli(['--json', 'task', 's', 'list'], { leader })).stdout)
  const revision = canonicalDigest(TASKS)
  expect(json).toMatchObject({ ok: true, result: { kind: 'page', sessionId: 's', revision, nextCursor: null } })
  expect(json.result.tasks.map((task: Task) => task.key)).toEqual(TASKS.map(task => task.key))
  const some = JSON.parse((await callCli(['--json', 'task', 's', 'list', '--status', 'blocked'], { leader })).stdout)
  expect(some.result).toMatchObject({ revision, tasks: [{ key: 'T1.1' }] })
})

test('K3 task list reads page after page, and begins again when the list has moved', async () => {
  const leader = withTasks(many, many.slice(0, 150), many)
  const json = JSON.parse((await callCli(['--json', 'task', 's', 'list'], { leader })).stdout)
  expect(json.result).toEqual({
    kind: 'page',
    sessionId: 's',
    revision: canonicalDigest(many),
    tasks: many,
    nextCursor: null,
  })
  const asked = leader.asked.filter(each => each.operation === 'task.ledger.query').map(each => each.input.kind)
  expect(asked).toEqual(['list_start', 'list_continue', 'list_start', 'list_continue'])
})

test('K3 task list says that there are none, and what it does not know', async () => {
  const empty = await callCli(['task', 's', 'list'], { leader: withTasks([]) })
  expect(empty).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('no tasks') })
  const other = await callCli(['task', 's', 'add'], { leader: withTasks([]) })
  expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining("unknown verb 'add'") })
  const status = await callCli(['task', 's', 'list', '--status', 'done'], { leader: withTasks([]) })
  expect(status).toMatchObject({ code: 2, stdout: '' })
  const unknown = await callCli(['task', 'nobody', 'list'], { leader: withTasks([]) })
  expect(unknown).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('nobody') })
})
