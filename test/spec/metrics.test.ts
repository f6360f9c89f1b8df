import { expect, test } from 'vitest'
import { startTestLeader } from '../support/start-test-leader.ts'
import { waitFor } from '../support/wait-for.ts'

/** What a turn with a permission must have counted; the rest counts troubles, which there are none of here. */
const COUNTED = [
  'headwater_commands_total',
  'headwater_turns_total',
  'headwater_ledger_appended_bytes_total',
  'headwater_command_commit_seconds_count',
  'headwater_command_queue_wait_seconds_count',
  'headwater_batch_sync_seconds_count',
  'headwater_projection_apply_seconds_count',
  'headwater_interaction_wait_seconds_count',
  'headwater_leader_epoch',
  'headwater_sessions',
]

test('W1 L6 A7 /metrics tells what happened: commands, batches, turns, waits, and what the database takes', async () => {
  const leader = await startTestLeader()
  await leader.create('s', 'scripted')
  await leader.ok('turn.start', { sessionId: 's', turnId: 't', content: { text: '/permission' } })
  const pending = await waitFor(async () => (await leader.ok('interaction.list', {})).interactions[0])
  const { interactionId, request } = pending
  const optionId = request.kind === 'permission' ? (request.options[0]?.optionId ?? '') : ''
  await leader.ok('interaction.answer', { interactionId, answer: { kind: 'permission', optionId } })
  await waitFor(async () => (await leader.ok('turn.query', { sessionId: 's', turnId: 't' })).status === 'completed')
  const text = (await leader.http('GET', '/metrics')).body.toString()
  const isFed = (name: string): boolean =>
    text.split('\n').some(line => line.startsWith(name) && Number(line.split(' ').at(-1)) > 0)
  expect(COUNTED.filter(name => !isFed(name))).toEqual([])
  for (const part of ['ledger', 'document', 'receipts', 'rows', 'artifacts'])
    expect(text).toContain(`headwater_database_bytes{part="${part}"}`)
  await leader.close()
})
