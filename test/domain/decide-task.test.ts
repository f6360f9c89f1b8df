import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decideCreateTask, decideUpdateTask } from '../../leader/domain/decide/task.ts'
import { type Decision, event } from '../../leader/domain/decision.ts'
import { canonicalDigest } from '../../schema/digest.ts'
import { EMPTY_TASKS_REVISION } from '../../schema/entities/projection.ts'
import {
  compareTaskKeys,
  isTaskEnd,
  type Task,
  TaskChange,
  type TaskDraft,
  TaskKey,
  Task as TaskShape,
  TaskStatus,
} from '../../schema/entities/task.ts'
import { LIMITS } from '../../schema/limits.ts'
import { DomainSession } from '../support/domain/domain-session.ts'

const RUN = { turnId: 't1', runId: 'r1' }
const STATUSES = TaskStatus.options

/** A session whose run may write tasks. */
class TaskSession {
  readonly session = new DomainSession().create()

  get items(): readonly Task[] {
    return this.session.state.tasks.items
  }

  get keys(): readonly string[] {
    return this.items.map(task => task.key)
  }

  decideCreate(draft: TaskDraft): Decision {
    return decideCreateTask(this.session.state, RUN, draft, this.session.context())
  }

  decideUpdate(change: TaskChange): Decision {
    return decideUpdateTask(this.session.state, RUN, change, this.session.context())
  }

  create(subject: string, parent?: string): Task {
    return this.session.take(this.decideCreate({ subject, ...(parent === undefined ? {} : { parent }) })) as Task
  }

  update(change: TaskChange): Task {
    return this.session.take(this.decideUpdate(change)) as Task
  }

  /** Leads a new task to a status by the shortest way. */
  taskIn(status: TaskStatus): Task {
    const { id } = this.create('a task')
    if (status !== 'pending' && status !== 'cancelled') this.update({ task: id, status: 'in_progress' })
    return status === 'pending' || status === 'in_progress'
      ? (this.items.at(-1) as Task)
      : this.update({ task: id, status, ...textsOf(status) })
  }
}

/** The text that a status needs. */
function textsOf(status: TaskStatus): Partial<TaskChange> {
  if (status === 'blocked') return { blockedReason: 'waits for the key' }
  if (status === 'failed') return { failureReason: 'the door is shut' }
  return status === 'completed' ? { completionEvidence: 'it is open' } : {}
}

function refusalOf(decision: Decision): readonly unknown[] {
  return decision.kind === 'refuse' ? [decision.code, decision.message] : [decision.kind]
}

const KINDS = {
  'pending in_progress': 'allowed',
  'pending cancelled': 'allowed',
  'in_progress blocked': 'allowed',
  'in_progress completed': 'allowed',
  'in_progress failed': 'allowed',
  'in_progress cancelled': 'allowed',
  'blocked in_progress': 'allowed',
  'blocked cancelled': 'allowed',
  'blocked failed': 'allowed',
  'failed pending': 'allowed',
  'failed cancelled': 'allowed',
  'completed in_progress': 'reopen',
  'cancelled pending': 'reopen',
} as const
const PAIRS = STATUSES.flatMap(from =>
  STATUSES.filter(to => to !== from).map(to => {
    const kind = (KINDS as Readonly<Record<string, 'allowed' | 'reopen'>>)[`${from} ${to}`]
    return [from, to, kind ?? 'forbidden'] as const
  }),
)

test.each(PAIRS)('K2 %s to %s is %s', (from, to, kind) => {
  for (const reopen of [undefined, false, true]) {
    const tasks = new TaskSession()
    const task = tasks.taskIn(from)
    const change = { task: task.key, status: to, ...textsOf(to), ...(reopen === undefined ? {} : { reopen }) }
    if (kind === 'allowed' || (kind === 'reopen' && reopen === true)) {
      const at = tasks.session.at
      const { blockedReason: _b, failureReason: _f, completionEvidence: _c, endedAt: _e, ...kept } = task
      expect(tasks.update(change)).toEqual({
        ...kept,
        ...textsOf(to),
        status: to,
        updatedAt: at,
        ...(isTaskEnd(to) ? { endedAt: at } : {}),
      })
    } else {
      const way = kind === 'reopen' ? ' without reopen: true' : ''
      const refused = ['operation_conflict', `T1 cannot go from ${from} to ${to}${way}`]
      expect(refusalOf(tasks.decideUpdate(change))).toEqual(refused)
    }
  }
})

test.each(['blocked', 'failed', 'completed'] as const)(
  'K2 a task becomes %s only with its text, and may change it',
  status => {
    const tasks = new TaskSession()
    const { id } = tasks.taskIn('in_progress')
    const [[name]] = Object.entries(textsOf(status)) as [[keyof TaskChange, string]]
    expect(refusalOf(tasks.decideUpdate({ task: id, status }))).toEqual([
      'operation_conflict',
      `a ${status} task needs a ${name}`,
    ])
    const first = tasks.update({ task: id, status, ...textsOf(status) })
    const second = tasks.update({ task: id, [name]: 'other words' })
    expect(second).toEqual({ ...first, [name]: 'other words', updatedAt: second.updatedAt })
    for (const other of STATUSES.filter(s => s !== status)) {
      for (const odd of Object.keys(textsOf(other))) {
        expect(refusalOf(tasks.decideUpdate({ task: id, [odd]: 'x' }))).toEqual([
          'operation_conflict',
          `a ${status} task has no ${odd}`,
        ])
      }
    }
  },
)

test('K2 a text of another status is refused, and one from an earlier time does not count again', () => {
  const tasks = new TaskSession()
  const { id } = tasks.taskIn('blocked')
  tasks.update({ task: id, status: 'in_progress' })
  expect(refusalOf(tasks.decideUpdate({ task: id, status: 'blocked' }))[1]).toBe('a blocked task needs a blockedReason')
  expect(
    refusalOf(tasks.decideUpdate({ task: id, status: 'completed', completionEvidence: 'x', failureReason: 'y' })),
  ).toEqual(['operation_conflict', 'a completed task has no failureReason'])
})

test('K2 a parent completes only when nothing under it is unfinished, at any depth', () => {
  const tasks = new TaskSession()
  tasks.create('top')
  tasks.create('middle', 'T1')
  tasks.create('leaf', 'T1.1')
  for (const key of ['T1', 'T1.1', 'T1.1.1']) tasks.update({ task: key, status: 'in_progress' })
  const complete = (task: string) => ({ task, status: 'completed', completionEvidence: 'done' }) as const
  expect(refusalOf(tasks.decideUpdate(complete('T1')))).toEqual(['operation_conflict', 'T1.1 is not finished'])
  tasks.update({ task: 'T1.1', status: 'cancelled' })
  expect(refusalOf(tasks.decideUpdate(complete('T1')))).toEqual(['operation_conflict', 'T1.1.1 is not finished'])
  tasks.update({ task: 'T1.1.1', status: 'failed', failureReason: 'no' })
  expect(tasks.update(complete('T1')).status).toBe('completed')
  const closed = ['operation_conflict', 'T1 is completed: reopen it first']
  expect(refusalOf(tasks.decideCreate({ subject: 'late', parent: 'T1.1' }))).toEqual(closed)
  expect(refusalOf(tasks.decideUpdate({ task: 'T1.1.1', status: 'pending' }))).toEqual(closed)
  expect(refusalOf(tasks.decideUpdate({ task: 'T1.1', status: 'pending', reopen: true }))).toEqual(closed)
  tasks.update({ task: 'T1', status: 'in_progress', reopen: true })
  tasks.update({ task: 'T1.1', status: 'pending', reopen: true })
  expect(tasks.create('late', 'T1.1').key).toBe('T1.1.2')
})

test('K2 an unknown task is not_found; the status it has is no transition, and what changes nothing is no fact', () => {
  const tasks = new TaskSession()
  expect(refusalOf(tasks.decideUpdate({ task: 'T1', status: 'in_progress' }))[0]).toBe('not_found')
  const task = tasks.taskIn('completed')
  const { revision } = tasks.session.state
  expect(tasks.update({ task: task.id, status: 'completed', subject: task.subject })).toBe(task)
  expect(tasks.update({ task: task.id })).toBe(task)
  expect(tasks.session.state.revision).toBe(revision)
  const renamed = tasks.update({ task: task.id, subject: 'other', owner: 'ada' })
  expect(renamed).toEqual({ ...task, subject: 'other', owner: 'ada', updatedAt: tasks.session.at - 10 })
})

test('K1 keys are the next number among the siblings; tasks are listed number by number, a parent before its children', () => {
  const tasks = new TaskSession()
  for (let i = 1; i <= 11; i++) tasks.create(`task ${i}`)
  const [second] = tasks.items.filter(task => task.key === 'T2')
  for (let i = 1; i <= 10; i++) tasks.create(`part ${i}`, i % 2 === 0 ? 'T2' : second?.id)
  tasks.create('part of a part', 'T2.10')
  tasks.update({ task: 'T2.3', status: 'cancelled' })
  expect(tasks.create('after a cancelled one', 'T2').key).toBe('T2.11')
  const parts = Array.from({ length: 11 }, (_, i) => `T2.${i + 1}`)
  const rest = Array.from({ length: 9 }, (_, i) => `T${i + 3}`)
  expect(tasks.keys).toEqual(['T1', 'T2', ...parts.slice(0, 10), 'T2.10.1', 'T2.11', ...rest])
  expect(tasks.items.find(task => task.key === 'T2.10.1')?.parentId).toBe(
    tasks.items.find(task => task.key === 'T2.10')?.id,
  )
  expect(refusalOf(tasks.decideCreate({ subject: 'x', parent: 'T99' }))).toEqual([
    'operation_conflict',
    'there is no such parent task',
  ])
})

test('K1 a session has 200 tasks, 256 KiB of them, and keys of 64 characters; one more is too_large', () => {
  const many = new TaskSession()
  for (let i = 0; i < LIMITS.tasks; i++) many.create('x')
  expect(refusalOf(many.decideCreate({ subject: 'x' }))).toEqual(['too_large', 'a session has at most 200 tasks'])
  expect(many.update({ task: 'T200', status: 'in_progress' }).status).toBe('in_progress')

  const large = new TaskSession()
  const subject = '語'.repeat(LIMITS.taskTextChars)
  while (large.decideCreate({ subject, owner: subject }).kind === 'accept')
    large.session.take(large.decideCreate({ subject, owner: subject }))
  const refused = ['too_large', "a session's tasks have at most 262144 bytes together"]
  expect(refusalOf(large.decideCreate({ subject, owner: subject }))).toEqual(refused)
  for (const { id } of large.items) large.session.take(large.decideUpdate({ task: id, status: 'in_progress' }))
  const grown = large.items.map(({ id }) => {
    const decision = large.decideUpdate({ task: id, status: 'blocked', blockedReason: subject })
    if (decision.kind === 'accept') large.session.take(decision)
    return refusalOf(decision)
  })
  expect(grown).toContainEqual(refused)
  expect(JSON.stringify(large.items).length).toBeGreaterThan(LIMITS.tasksBytes / 3 - 4_000)
  expect(Buffer.byteLength(JSON.stringify(large.items))).toBeLessThanOrEqual(LIMITS.tasksBytes)

  const deep = new TaskSession()
  let parent = deep.create('top').key
  while (parent.length + 2 <= LIMITS.taskKeyChars) parent = deep.create('deeper', parent).key
  expect(refusalOf(deep.decideCreate({ subject: 'x', parent }))).toEqual([
    'too_large',
    'the task would be nested too deeply',
  ])
})

test('K3 the revision is the digest of the list, and of nothing else', () => {
  expect(canonicalDigest([])).toBe(EMPTY_TASKS_REVISION)
  const tasks = new TaskSession()
  expect(tasks.session.state.tasks).toEqual({ revision: EMPTY_TASKS_REVISION, items: [] })
  tasks.create('one')
  const { tasks: before } = tasks.session.state
  expect(before.revision).toBe(canonicalDigest(before.items))
  tasks.session.do('session.update', { expectedRevision: 1, patch: { title: 'other' } })
  expect(tasks.session.state.tasks).toBe(before)
  tasks.create('two')
  expect(tasks.session.state.tasks.revision).toBe(canonicalDigest(tasks.items))
  expect(tasks.items[0]).toBe(before.items[0])
})

const refs = fc.oneof(fc.constantFrom('T1', 'T2', 'T1.1', 'T1.2', 'T2.1', 'T1.1.1'), fc.nat(12).map(String))
const step = fc.oneof(
  fc.record({ kind: fc.constant('create' as const), parent: fc.option(refs, { nil: undefined }) }),
  fc.record({
    kind: fc.constant('update' as const),
    task: refs,
    status: fc.constantFrom(...STATUSES),
    reopen: fc.boolean(),
    isTexted: fc.boolean(),
  }),
)

test('K1 K2 K3 in every list that runs can make keys and parents agree, ends have a time, and no completed task has open work', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), steps => {
      const tasks = new TaskSession()
      const seen = new Map<string, string>()
      for (const s of steps) {
        const decision =
          s.kind === 'create'
            ? tasks.decideCreate({
                subject: 'x',
                ...(s.parent === undefined ? {} : { parent: nameOf(tasks, s.parent) }),
              })
            : tasks.decideUpdate({
                task: nameOf(tasks, s.task),
                status: s.status,
                reopen: s.reopen,
                ...(s.isTexted ? textsOf(s.status) : {}),
              })
        if (decision.kind === 'accept') tasks.session.take(decision)
        checkList(tasks.items, seen)
        expect(tasks.session.state.tasks.revision).toBe(canonicalDigest(tasks.items))
      }
    }),
    { numRuns: 200 },
  )
})

/** A key as it is; a number is the task at this place, by its id. */
function nameOf(tasks: TaskSession, ref: string): string {
  return ref.startsWith('T') ? ref : (tasks.items[Number(ref)]?.id ?? 'T77')
}

function checkList(items: readonly Task[], seen: Map<string, string>): void {
  expect(items.map(task => task.key)).toEqual(items.map(task => task.key).sort(compareTaskKeys))
  for (const task of items) {
    expect(TaskShape.safeParse(task).success).toBe(true)
    expect(seen.get(task.key) ?? task.id).toBe(task.id)
    seen.set(task.key, task.id)
    expect(task.endedAt !== undefined).toBe(isTaskEnd(task.status))
    const { blockedReason, failureReason, completionEvidence } = task
    expect({ blockedReason, failureReason, completionEvidence }).toEqual({
      blockedReason: undefined,
      failureReason: undefined,
      completionEvidence: undefined,
      ...textsOf(task.status),
    })
    const parent = items.find(known => known.id === task.parentId)
    expect(task.key.slice(0, Math.max(task.key.lastIndexOf('.'), 0))).toBe(parent?.key ?? '')
    if (parent?.status === 'completed') expect(isTaskEnd(task.status)).toBe(true)
  }
}

test('K1 the order of keys is that of their numbers', () => {
  const key = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 6 }).map(n => `T${n.join('.')}`)
  fc.assert(
    fc.property(key, key, (a, b) => {
      expect(TaskKey.safeParse(a).success).toBe(true)
      expect(Math.sign(compareTaskKeys(a, b))).toBe(-Math.sign(compareTaskKeys(b, a)))
      expect(compareTaskKeys(a, b) === 0).toBe(a === b)
      expect(compareTaskKeys(a, `${a}.1`)).toBeLessThan(0)
    }),
  )
  expect(['T10', 'T2.10', 'T2', 'T2.9.9', 'T2.9'].sort(compareTaskKeys)).toEqual([
    'T2',
    'T2.9',
    'T2.9.9',
    'T2.10',
    'T10',
  ])
  expect(TaskChange.safeParse({ task: 'T0' }).success).toBe(true)
  expect(TaskKey.safeParse('T0').success).toBe(false)
})

test('K2 A7 tasks that are parts of each other, as only a planted ledger has them, are changed like others', () => {
  const world = new TaskSession()
  const [first, second] = [world.create('first'), world.create('second')]
  for (const [task, parent] of [
    [first, second],
    [second, first],
  ] as const) {
    world.session.apply([event('task_updated', { ...RUN, task: { ...task, parentId: parent.id } })])
  }
  expect(world.update({ task: first.id, status: 'in_progress' })).toMatchObject({ status: 'in_progress' })
  const done = { status: 'completed', completionEvidence: 'seen' } as const
  expect(world.decideUpdate({ task: first.id, ...done })).toMatchObject({ kind: 'refuse', code: 'operation_conflict' })
  expect(world.create('third', first.id)).toMatchObject({ key: 'T1.3' })
})
