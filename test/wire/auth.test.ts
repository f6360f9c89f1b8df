import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { hashKey, keyIdOf, makeProof } from '../../leader/transport/auth.ts'
import type { ProofFields } from '../../schema/wire/proof.ts'
import { SUBPROTOCOL } from '../../schema/wire/sync.ts'
import { waitFor } from '../support/wait-for.ts'
import { openBystander } from '../support/wire/bystander.ts'
import {
  ask,
  dial,
  dialRaw,
  fetchFrom,
  hello,
  openCommands,
  type TestSocket,
  upgradeText,
} from '../support/wire/clients.ts'
import { startTestLeader, type TestLeader, TOKEN } from '../support/wire/test-leader.ts'

const OTHER_TOKEN = Buffer.alloc(32, 8).toString('base64url')
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })

/** The status with which an upgrade is answered, and all that came with it. */
async function upgrade(leader: TestLeader, path: string, headers: Record<string, string>) {
  const raw = await dialRaw(leader, 'tcp')
  raw.socket.write(upgradeText(leader, path, headers))
  const text = await waitFor(() => (raw.received().includes('\r\n\r\n') ? raw.received().toString('latin1') : ''))
  raw.socket.destroy()
  return { status: Number(text.slice(9, 12)), text }
}

const DOCUMENT = '/v1/sync/session/quiet'

test.each([
  ['no token', {}, 401],
  ['a wrong token', bearer(OTHER_TOKEN), 401],
  ['a wrong token as subprotocol', { 'Sec-WebSocket-Protocol': `headwater.v1, bearer.${OTHER_TOKEN}` }, 401],
  ['the token in the address', {}, 401, `?token=${TOKEN}&bearer=${TOKEN}`],
  ['an empty bearer', { Authorization: 'Bearer ' }, 401],
  ['another scheme', { Authorization: `Basic ${TOKEN}` }, 401],
  ['a token that is far too long', bearer(TOKEN.repeat(40)), 401],
  ['the right token and a foreign Origin', { ...bearer(TOKEN), Origin: 'https://evil.example' }, 403],
  ['the right token and a null Origin', { ...bearer(TOKEN), Origin: 'null' }, 403],
  ['the right token and an Origin of another port', { ...bearer(TOKEN), Origin: 'http://127.0.0.1:1' }, 403],
  ['the right token and a wrong Host', { ...bearer(TOKEN), Host: 'evil.example' }, 403],
  ['the right token and a Host of another port', { ...bearer(TOKEN), Host: '127.0.0.1:1' }, 403],
  ['the right token and localhost as Host', { ...bearer(TOKEN), Host: 'localhost' }, 403],
  ['the right token', bearer(TOKEN), 101],
  ['the right token as subprotocol', { 'Sec-WebSocket-Protocol': `headwater.v1, bearer.${TOKEN}` }, 101],
])('Z4 over TCP, %s: a document answers %#', async (_what, headers, status, query = '') => {
  const leader = await startTestLeader()
  const bystander = await openBystander(leader)
  const answer = await upgrade(leader, DOCUMENT + query, headers as Record<string, string>)
  expect(answer.status).toBe(status)
  if (status !== 101) expect(answer.text.split('\r\n\r\n')[1]).toBe('')
  await bystander.expectUnharmed()
})

test('Z4 the Origin of the page itself is let in', async () => {
  const leader = await startTestLeader()
  const headers = { ...bearer(TOKEN), Origin: `http://127.0.0.1:${leader.port}` }
  expect((await upgrade(leader, DOCUMENT, headers)).status).toBe(101)
})

test('Z4 names that the operator allowed are let in, others are not', async () => {
  const leader = await startTestLeader({}, { allowedHosts: ['box.local'], publicUrl: 'https://headwater.example' })
  const { port } = leader
  for (const [Host, Origin, status] of [
    ['box.local', `http://box.local:${port}`, 101],
    [`BOX.local:${port}`, 'https://headwater.example', 101],
    ['headwater.example', 'https://headwater.example', 101],
    ['headwater.example', 'http://headwater.example', 403],
    ['box.local:1', `http://box.local:${port}`, 403],
  ] as const) {
    expect([Host, Origin, (await upgrade(leader, DOCUMENT, { ...bearer(TOKEN), Host, Origin })).status]).toEqual([
      Host,
      Origin,
      status,
    ])
  }
})

test('Z4 a refusal says the same whether or not a session exists', async () => {
  const leader = await startTestLeader()
  leader.host.room('there')
  const answers = await Promise.all(
    ['there', 'missing', '..%2f'].map(id => upgrade(leader, `/v1/sync/session/${id}`, {})),
  )
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  const requests = await Promise.all(
    ['/v1/sessions/there/transcript', '/v1/sessions/missing/transcript', '/metrics', '/no/such/route', '/'].map(path =>
      fetchFrom(leader, 'tcp', path),
    ),
  )
  expect(requests.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401])
  expect(new Set(requests.map(({ body }) => body)).size).toBe(1)
})

test('W1 the Unix socket needs no token, and only its own names', async () => {
  const leader = await startTestLeader()
  const status = async (headers: Record<string, string>) =>
    (await fetchFrom(leader, 'socket', '/v1/command/host.status', { method: 'POST', headers })).status
  expect(await status({})).toBe(200)
  expect(await status({ Host: 'headwater' })).toBe(200)
  expect(await status({ Host: 'evil.example' })).toBe(403)
  expect(await status({ Host: 'localhost', Origin: 'http://localhost' })).toBe(403)
})

/** A replica's half of the handshake over TCP, up to the challenge. */
async function challenge(leader: TestLeader, keyId?: string) {
  const socket = await dial(leader, 'tcp', '/v1/commands')
  const first = hello(keyId === undefined ? {} : { keyId })
  socket.send(first)
  const frame = await socket.frame(candidate => candidate.kind === 'challenge')
  const fields: ProofFields = {
    role: 'replica',
    protocol: 1,
    rootId: leader.host.rootId,
    hostEpoch: leader.host.hostEpoch,
    clientNonce: String(first.nonce),
    leaderNonce: String(frame.nonce),
    address: `127.0.0.1:${leader.port}`,
  }
  return { socket, frame, fields }
}

const key = hashKey(TOKEN)

test('Z3 both sides prove themselves over TCP, and the token never travels', async () => {
  const leader = await startTestLeader()
  const { socket, frame, fields } = await challenge(leader, keyIdOf(key))
  expect(frame).toEqual({
    kind: 'challenge',
    protocol: 1,
    rootId: leader.host.rootId,
    hostEpoch: leader.host.hostEpoch,
    nonce: fields.leaderNonce,
    proof: makeProof(key, { ...fields, role: 'leader' }),
  })
  socket.send({ kind: 'proof', proof: makeProof(key, fields) })
  expect(await socket.frame(candidate => candidate.kind === 'accepted')).toMatchObject({ protocol: 1, state: 'ready' })
  expect(await ask(socket, 'host.status')).toMatchObject({ ok: true, result: { connections: 1 } })
  expect(JSON.stringify(socket.frames)).not.toContain(TOKEN)
})

test.each<[string, (fields: ProofFields, frame: Record<string, unknown>) => string]>([
  ['of another key', fields => makeProof(hashKey(OTHER_TOKEN), fields)],
  ['echoed', (_fields, frame) => String(frame.proof)],
  ['made in the leader’s role', fields => makeProof(key, { ...fields, role: 'leader' })],
  ['for another address', fields => makeProof(key, { ...fields, address: '127.0.0.1:1' })],
  ['for another root', fields => makeProof(key, { ...fields, rootId: 'b'.repeat(64) })],
  ['for another epoch', fields => makeProof(key, { ...fields, hostEpoch: 'other' })],
  ['for another protocol', fields => makeProof(key, { ...fields, protocol: 2 })],
  [
    'with a leader nonce of before',
    fields => makeProof(key, { ...fields, leaderNonce: randomBytes(32).toString('base64url') }),
  ],
  ['that is empty', () => ''],
  ['that is no base64url', () => '!'.repeat(43)],
])('Z3 a proof %s is unauthorized', async (_what, forge) => {
  const leader = await startTestLeader()
  const bystander = await openBystander(leader)
  const { socket, frame, fields } = await challenge(leader)
  socket.send({ kind: 'proof', proof: forge(fields, frame) })
  expect(await socket.closed).toEqual({ code: 4401, reason: 'unauthorized' })
  expect(leader.roster.count).toBe(1)
  await bystander.expectUnharmed()
})

test('Z3 a proof counts once: on another connection it is unauthorized', async () => {
  const leader = await startTestLeader()
  const first = await challenge(leader)
  const proof = makeProof(key, first.fields)
  const second = await challenge(leader)
  second.socket.send({ kind: 'proof', proof })
  expect(await second.socket.closed).toMatchObject({ code: 4401 })
  first.socket.send({ kind: 'proof', proof })
  await first.socket.frame(frame => frame.kind === 'accepted')
})

test('Z3 a command instead of a proof is unauthorized and not run', async () => {
  const leader = await startTestLeader()
  const { socket } = await challenge(leader)
  socket.send({ requestId: 'r', operation: 'host.status', input: {} })
  expect(await socket.closed).toMatchObject({ code: 4401 })
  expect(leader.host.executed).toEqual([])
})

test('Z3 a key id that nobody has is unauthorized', async () => {
  const leader = await startTestLeader()
  const socket = await dial(leader, 'tcp', '/v1/commands')
  socket.send(hello({ keyId: '0'.repeat(16) }))
  expect(await socket.closed).toMatchObject({ code: 4401 })
  expect(socket.frames).toEqual([])
})

test('Z3 a bearer header replaces the proof; a wrong one is refused before the upgrade', async () => {
  const leader = await startTestLeader()
  const socket = await dial(leader, 'tcp', '/v1/commands', { headers: bearer(TOKEN) })
  socket.send(hello())
  await socket.frame(frame => frame.kind === 'accepted')
  await expect(dial(leader, 'tcp', '/v1/commands', { headers: bearer(OTHER_TOKEN) })).rejects.toThrow('401')
})

/** True if the ticket opens a document over TCP. */
async function opens(leader: TestLeader, ticket: unknown): Promise<boolean> {
  leader.host.room('quiet')
  const dialled = dial(leader, 'tcp', DOCUMENT, { protocols: [SUBPROTOCOL, `bearer.${ticket}`] })
  return dialled.then(
    socket => {
      socket.ws.terminate()
      return true
    },
    () => false,
  )
}

test.each<[string, (leader: TestLeader) => Promise<TestSocket & { accepted: Record<string, unknown> }>]>([
  ['on the socket', leader => openCommands(leader)],
  [
    'over TCP',
    async leader => {
      const { socket, fields } = await challenge(leader)
      socket.send({ kind: 'proof', proof: makeProof(key, fields) })
      return { ...socket, accepted: await socket.frame(frame => frame.kind === 'accepted') }
    },
  ],
])('Z3 a ticket made %s opens documents and routes while its connection lives', async (_where, connectTo) => {
  const leader = await startTestLeader()
  const client = await connectTo(leader)
  const { ticket } = client.accepted
  expect(await opens(leader, ticket)).toBe(true)
  expect((await fetchFrom(leader, 'tcp', '/metrics', { headers: bearer(String(ticket)) })).status).toBe(200)
  client.ws.terminate()
  await waitFor(() => leader.roster.count === 0)
  expect(await opens(leader, ticket)).toBe(false)
  expect((await fetchFrom(leader, 'tcp', '/metrics', { headers: bearer(String(ticket)) })).status).toBe(401)
})

test('Z3 a ticket opens no further command connection by itself', async () => {
  const leader = await startTestLeader()
  const { accepted } = await openCommands(leader)
  const socket = await dial(leader, 'tcp', '/v1/commands', { headers: bearer(String(accepted.ticket)) })
  socket.send(hello())
  expect(await socket.frame(() => true)).toMatchObject({ kind: 'challenge' })
})

test('Z2 a watch key is told apart: its caller has the scope, and it uploads nothing', async () => {
  const leader = await startTestLeader()
  leader.credentials.add({ id: 'w', scope: 'watch', keyHash: hashKey(OTHER_TOKEN), createdAt: 1, lastSeenAt: null })
  const headers = bearer(OTHER_TOKEN)
  await fetchFrom(leader, 'tcp', '/v1/command/host.status', { method: 'POST', headers })
  expect(leader.host.executed.at(-1)?.caller.scope).toBe('watch')
  expect((await fetchFrom(leader, 'tcp', '/v1/artifacts', { method: 'PUT', headers, body: 'x' })).status).toBe(403)
  expect(leader.host.artifacts.size).toBe(0)
})

test('Z2 a revoked credential closes what it opened with 4401, and opens nothing more', async () => {
  const leader = await startTestLeader()
  leader.credentials.add({ id: 'w', scope: 'watch', keyHash: hashKey(OTHER_TOKEN), createdAt: 1, lastSeenAt: null })
  const bystander = await openBystander(leader)
  const document = await dial(leader, 'tcp', DOCUMENT, { headers: bearer(OTHER_TOKEN) })
  const commands = await dial(leader, 'tcp', '/v1/commands', { headers: bearer(OTHER_TOKEN) })
  commands.send(hello())
  const { ticket } = await commands.frame(frame => frame.kind === 'accepted')
  leader.credentials.remove('w')
  leader.listeners.revoke('w')
  expect(await document.closed).toMatchObject({ code: 4401 })
  expect(await commands.closed).toMatchObject({ code: 4401 })
  await expect(dial(leader, 'tcp', DOCUMENT, { headers: bearer(OTHER_TOKEN) })).rejects.toThrow('401')
  expect(await opens(leader, ticket)).toBe(false)
  await bystander.expectUnharmed()
})

test('Z2 neither the token nor a ticket is ever logged or counted', async () => {
  const leader = await startTestLeader()
  const { socket, fields } = await challenge(leader)
  socket.send({ kind: 'proof', proof: makeProof(key, fields) })
  const { ticket } = await socket.frame(frame => frame.kind === 'accepted')
  await upgrade(leader, `${DOCUMENT}?token=${TOKEN}`, {})
  await fetchFrom(leader, 'tcp', `/v1/command/${TOKEN}`, { method: 'POST', headers: bearer(TOKEN) })
  leader.host.operations.set('turn.query', () => {
    throw new Error(`with ${TOKEN} and ${ticket}`)
  })
  await ask(socket, 'turn.query')
  const written = leader.logLines.join('') + (await leader.metrics.scrape())
  expect(leader.logLines).toHaveLength(1)
  for (const secret of [TOKEN, String(ticket), Buffer.from(TOKEN, 'base64url').toString('hex')]) {
    expect(written).not.toContain(secret)
  }
})
