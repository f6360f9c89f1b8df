import { expect, test } from 'vitest'
import { LIMITS } from '../../schema/limits.ts'
import { waitFor } from '../support/wait-for.ts'
import { openBystander } from '../support/wire/bystander.ts'
import { ask, dial, openCommands } from '../support/wire/clients.ts'
import { startTestLeader, type TestLeader } from '../support/wire/test-leader.ts'

/** An operation that is answered when the test says so. */
function addGate(leader: TestLeader): { readonly release: (name: string) => void; readonly waiting: () => string[] } {
  const gates = new Map<string, () => void>()
  leader.host.operations.set('test.wait', ({ name }) => {
    return new Promise(resolve => gates.set(String(name), () => resolve({ ok: true, result: { name } })))
  })
  return { release: name => gates.get(name)?.(), waiting: () => [...gates.keys()] }
}

test('W2 a command is answered with its result and the revision it was computed at', async () => {
  const leader = await startTestLeader()
  leader.host.operations.set('turn.query', () => ({ ok: true, result: { turnId: 't1' }, revision: 7 }))
  const client = await openCommands(leader)
  client.send({ requestId: 'r1', operation: 'turn.query', input: {} })
  expect(await client.frame(frame => frame.requestId === 'r1')).toEqual({
    requestId: 'r1',
    ok: true,
    result: { turnId: 't1' },
    revision: 7,
  })
})

test('W2 replies come in the order in which they are ready', async () => {
  const leader = await startTestLeader()
  const gate = addGate(leader)
  const client = await openCommands(leader)
  for (const name of ['a', 'b', 'c']) client.send({ requestId: name, operation: 'test.wait', input: { name } })
  await waitFor(() => gate.waiting().length === 3)
  for (const name of ['b', 'c', 'a']) {
    gate.release(name)
    await client.frame(frame => frame.requestId === name)
  }
  expect(client.frames.slice(1).map(frame => frame.requestId)).toEqual(['b', 'c', 'a'])
})

test('W2 progress travels under the id of its request, before the reply', async () => {
  const leader = await startTestLeader()
  leader.host.operations.set('root.verify', (_input, _caller, onProgress) => {
    onProgress({ records: 1 })
    onProgress({ records: 2 })
    return { ok: true, result: {} }
  })
  const client = await openCommands(leader)
  await ask(client, 'root.verify')
  expect(client.frames.slice(1).map(({ progress, ok }) => progress ?? ok)).toEqual([
    { records: 1 },
    { records: 2 },
    true,
  ])
})

test.each([
  ['an unknown key', { operation: 'host.status', input: {}, extra: 1 }, 'extra'],
  ['a missing operation', { input: {} }, 'operation'],
  ['an operation that is no string', { operation: 5, input: {} }, 'operation'],
  ['an empty operation', { operation: '', input: {} }, 'operation'],
  ['an operation that is too long', { operation: 'x'.repeat(65), input: {} }, 'operation'],
  ['a missing input', { operation: 'host.status' }, 'input'],
  ['an input that is a list', { operation: 'host.status', input: [] }, 'input'],
  ['an input that is null', { operation: 'host.status', input: null }, 'input'],
  ['a kind beside a requestId', { kind: 'hello' }, 'kind'],
])('W2 %s is invalid_request with the path of the fault, and the connection goes on', async (_what, frame, path) => {
  const leader = await startTestLeader()
  const client = await openCommands(leader)
  client.send({ requestId: 'r1', ...frame })
  expect(await client.frame(reply => reply.requestId === 'r1')).toMatchObject({
    ok: false,
    error: { code: 'invalid_request', detail: { path } },
  })
  expect(await ask(client, 'host.status')).toMatchObject({ ok: true })
})

test.each([
  ['text that is no JSON', 'not json'],
  ['a number', '5'],
  ['null', 'null'],
  ['a list', '[]'],
  ['an empty text', ''],
  ['a binary frame', Buffer.from('{}')],
  ['an object that is no frame', '{}'],
  ['an unknown kind', '{"kind":"other"}'],
  ['a second hello', '{"kind":"hello"}'],
  ['a ping without an id', '{"kind":"ping"}'],
  ['a requestId that is no string', '{"requestId":5,"operation":"host.status","input":{}}'],
  ['an empty requestId', '{"requestId":"","operation":"host.status","input":{}}'],
  ['a requestId that is too long', JSON.stringify({ requestId: 'r'.repeat(129), operation: 'host.status', input: {} })],
])('W2 %s closes the connection with 1007, and nobody else', async (_what, frame) => {
  const leader = await startTestLeader()
  const bystander = await openBystander(leader)
  const client = await openCommands(leader)
  client.send(frame)
  expect(await client.closed).toMatchObject({ code: 1007 })
  await bystander.expectUnharmed()
})

test('W2 64 commands may be in flight; one more closes with 1008', async () => {
  const leader = await startTestLeader()
  const gate = addGate(leader)
  const client = await openCommands(leader)
  for (let i = 0; i < LIMITS.commandsInFlight; i++) {
    client.send({ requestId: `r${i}`, operation: 'test.wait', input: { name: i } })
  }
  await waitFor(() => gate.waiting().length === LIMITS.commandsInFlight)
  expect(client.ws.readyState).toBe(client.ws.OPEN)
  client.send({ requestId: 'one more', operation: 'test.wait', input: { name: 'more' } })
  expect(await client.closed).toMatchObject({ code: 1008 })
  expect(gate.waiting()).toHaveLength(LIMITS.commandsInFlight)
})

test('W2 a requestId that is in flight closes with 1008; after its reply it may be used again', async () => {
  const leader = await startTestLeader()
  const gate = addGate(leader)
  const client = await openCommands(leader)
  const send = () => client.send({ requestId: 'same', operation: 'test.wait', input: { name: 'x' } })
  send()
  await waitFor(() => gate.waiting().length === 1)
  gate.release('x')
  await client.frame(frame => frame.requestId === 'same')
  send()
  await waitFor(() => leader.host.executed.filter(({ operation }) => operation === 'test.wait').length === 2)
  send()
  expect(await client.closed).toMatchObject({ code: 1008 })
})

test('W2 a frame of 256 KiB is read, one byte more closes with 1009', async () => {
  const leader = await startTestLeader()
  const client = await openCommands(leader)
  const frame = (bytes: number) => {
    const empty = JSON.stringify({ requestId: 'big', operation: 'host.status', input: { text: '' } })
    return empty.replace('""', `"${'x'.repeat(bytes - empty.length)}"`)
  }
  client.send(frame(LIMITS.commandFrameBytes))
  expect(await client.frame(reply => reply.requestId === 'big')).toMatchObject({ ok: true })
  client.send(frame(LIMITS.commandFrameBytes + 1))
  expect(await client.closed).toMatchObject({ code: 1009 })
})

test('W2 an answer over its limit is too_large, not a torn connection', async () => {
  const leader = await startTestLeader({ outboundCloseBytes: 64 * 1024 })
  leader.host.operations.set('transcript.page', () => ({ ok: true, result: 'x'.repeat(64 * 1024) }))
  const client = await openCommands(leader)
  expect(await ask(client, 'transcript.page')).toMatchObject({ ok: false, error: { code: 'too_large' } })
  expect(await ask(client, 'host.status')).toMatchObject({ ok: true })
})

test('W5 an operation that throws is internal_failure; its words stay in the leader', async () => {
  const leader = await startTestLeader()
  leader.host.operations.set('turn.query', () => {
    throw new Error('secret words')
  })
  const client = await openCommands(leader)
  const reply = await ask(client, 'turn.query')
  expect(reply).toMatchObject({ ok: false, error: { code: 'internal_failure' } })
  expect(JSON.stringify(reply) + leader.logLines.join()).not.toContain('secret words')
  expect(leader.logLines.map(line => JSON.parse(line).code)).toEqual(['internal_failure'])
})

test('Z5 too many commands a second are rate_limited, one by one, and the connection goes on', async () => {
  const leader = await startTestLeader({ commandsPerSecond: 20 })
  const client = await openCommands(leader)
  const replies = await Promise.all(Array.from({ length: 30 }, () => ask(client, 'host.status')))
  const refused = replies.filter(reply => !reply.ok)
  expect(refused.length).toBeGreaterThanOrEqual(5)
  expect(new Set(refused.map(reply => (reply.error as { code: string }).code))).toEqual(new Set(['rate_limited']))
  await waitFor(async () => (await ask(client, 'host.status')).ok, { everyMs: 100 })
})

test('V12 bye is confirmed with 1000 after the leader forgot the client', async () => {
  const leader = await startTestLeader()
  const [stays, leaves] = [await openCommands(leader), await openCommands(leader)]
  expect(await ask(stays, 'host.status')).toMatchObject({ result: { connections: 2 } })
  leaves.send({ kind: 'bye' })
  expect(await leaves.closed).toMatchObject({ code: 1000 })
  expect(await ask(stays, 'host.status')).toMatchObject({ result: { connections: 1 } })
})

test('V12 connections counts accepted hellos, not sockets', async () => {
  const leader = await startTestLeader()
  const counts: number[] = []
  leader.roster.onChange(count => counts.push(count))
  await dial(leader, 'socket', '/v1/commands')
  const first = await openBystander(leader)
  expect(await ask(first.commands, 'host.status')).toMatchObject({ result: { connections: 1 } })
  first.commands.ws.terminate()
  await waitFor(() => leader.roster.count === 0)
  expect(counts).toEqual([1, 0])
})

test('E5 a client that goes away cancels nothing', async () => {
  const leader = await startTestLeader()
  const gate = addGate(leader)
  const client = await openCommands(leader)
  client.send({ requestId: 'r', operation: 'test.wait', input: { name: 'x' } })
  await waitFor(() => gate.waiting().length === 1)
  client.ws.terminate()
  await waitFor(() => leader.roster.count === 0)
  gate.release('x')
  await waitFor(async () =>
    (await leader.metrics.scrape()).includes('headwater_commands_total{kind="unknown",outcome="ok"} 1'),
  )
  expect(leader.logLines).toEqual([])
})

test('L1 an operation learns who asks: surface, client and connection', async () => {
  const leader = await startTestLeader()
  const client = await openCommands(leader, { surface: 'tui', clientInstanceId: 'me' })
  await ask(client, 'host.status')
  expect(leader.host.executed.at(-1)?.caller).toEqual({
    actor: { surface: 'tui', clientInstanceId: 'me' },
    connectionId: client.accepted.connectionId,
    scope: 'full',
  })
})
