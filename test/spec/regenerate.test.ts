import { expect, test } from 'vitest'
import { HandBackend } from '../support/hand-backend.ts'
import { BOB, startTestLeader } from '../support/start-test-leader.ts'

test('T10 A5 a turn is made again; its retry is the turn as it is, also after a restart', async () => {
  const hand = new HandBackend()
  const leader = await startTestLeader({ backends: [hand] })
  await leader.create('s', hand.kind)
  await leader.startTurn('s', 't1', 'say it')
  const input = { sessionId: 's', sourceTurnId: 't1', turnId: 't2' }
  expect((await leader.refused('turn.regenerate', input)).code).toBe('session_busy')
  ;(await hand.run('t1')).complete()
  await leader.ended('s', 't1')
  const started = await leader.ok('turn.regenerate', input, BOB)
  expect(started).toMatchObject({ kind: 'started', turn: { turnId: 't2', status: 'running' } })
  const { context } = await hand.run('t2')
  expect(context.input).toEqual({ text: 'say it' })
  expect(await leader.ok('turn.regenerate', input)).toEqual(started)
  const start = { sessionId: 's', turnId: 't2', content: { text: 'say it' } }
  expect((await leader.refused('turn.start', start)).code).toBe('operation_conflict')
  ;(await hand.run('t2')).complete()
  const turn = await leader.ended('s', 't2')
  await leader.startTurn('s', 't3', 'else')
  ;(await hand.run('t3')).complete()
  await leader.ended('s', 't3')
  await leader.restart({ backends: [hand] })
  expect(await leader.ok('turn.regenerate', input)).toEqual({ kind: 'started', turn })
  expect((await leader.refused('turn.regenerate', { ...input, sourceTurnId: 't3' })).code).toBe('operation_conflict')
  // An older source is found on disk.
  const again = { sessionId: 's', sourceTurnId: 't1', turnId: 't4' }
  expect(await leader.ok('turn.regenerate', again)).toMatchObject({ turn: { turnId: 't4' } })
  const run = await hand.run('t4')
  expect(run.context.input).toEqual({ text: 'say it' })
  run.complete()
  await leader.ended('s', 't4')
  const facts = (await leader.ledger('s')).flatMap(record => record.events)
  expect(
    facts.filter(({ type }) => type === 'run_started').map(({ payload }) => payload.regeneratedFromTurnId),
  ).toEqual([undefined, 't1', undefined, 't1'])
})

test('T10 nothing is stored of a turn that cannot be made again', async () => {
  const leader = await startTestLeader()
  await leader.create('s')
  const input = { sessionId: 's', sourceTurnId: 'nobody', turnId: 't1' }
  expect((await leader.refused('turn.regenerate', input)).code).toBe('not_found')
  expect((await leader.refused('turn.regenerate', { ...input, sessionId: 'nobody' })).code).toBe('not_found')
  expect(await leader.ok('receipt.query', { sessionId: 's', operation: 'turn.regenerate', id: 't1' })).toEqual({
    stored: false,
  })
  expect(await leader.revision('s')).toBe(1)
})
