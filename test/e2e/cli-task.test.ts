import { expect, test } from 'vitest'
import { served } from '../support/cli/served.ts'

test('F K3 the command line shows the tasks of a session, the same after the leader was started again', async () => {
  const { leader, start, cli, json, newSession } = await served()
  const id = await newSession()
  expect(await cli(['task', id, 'list'])).toMatchObject({ code: 0, stdout: '' })
  expect(await cli(['run', '-s', id, '/tasks'])).toMatchObject({ code: 0 })
  const shown = await cli(['task', id, 'list'])
  expect(shown.stdout.split('\n').map(line => line.split('\t').slice(0, 3))).toEqual([
    ['T1', 'done', 'Look around'],
    ['T2', 'done', 'Change it'],
    ['T3', 'done', 'Check it'],
    [''],
  ])
  const before = await json('task', id, 'list')
  await leader.stop()
  await start()
  expect(await json('task', id, 'list')).toEqual(before)
})
