import { expect, test } from 'vitest'
import { ask, openCommands } from '../support/wire/clients.ts'
import { startTestLeader } from '../support/wire/test-leader.ts'

test('W2 a command is answered with its result', async () => {
  const leader = await startTestLeader()
  const client = await openCommands(leader)
  expect(await ask(client, 'host.status')).toMatchObject({ ok: true, result: { connections: 1 } })
})
