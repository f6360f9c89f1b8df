import { expect, test } from 'vitest'
import type { Task } from '../../schema/entities/task.ts'
import { parseLines, served } from '../support/cli/served.ts'

test('F K3 the command line shows the tasks of a session, the same after the leader was started again', async () => {
  const { leader, start, cli, json, newSession } = await served()
  const id = await newSession()
  expect(await cli(['task', id, 'list'])).toMatchObject({ code: 0, stdout: '' })
  const run = await cli(['run', '-s', id, '--format', 'jsonl', '/tasks'])
  const changes = parseLines(run.stdout).filter(line => line.type === 'task.changed')
  expect(changes.map(({ change, task }) => [change, (task as Task).key, (task as Task).status])).toEqual([
    ...['T1', 'T2', 'T3'].map(key => ['created', key, 'pending']),
    ...['T1', 'T2', 'T3'].flatMap(key => [
      ['updated', key, 'in_progress'],
      ['updated', key, 'completed'],
    ]),
  ])
  const shown = await cli(['task', id, 'list'])
  expect(shown.stdout.split('\n').map(line => line.split('\t').slice(0, 3))).toEqual([
    ['T1', 'done', 'Look around'],
    ['T2', 'done', 'Change it'],
    ['T3', 'done', 'Check it'],
    [''],
  ])
  const before = await json('task', id, 'list')
  expect(await cli(['verify'])).toMatchObject({ code: 0 })
  await leader.stop()
  await start()
  expect(await json('task', id, 'list')).toEqual(before)
})
