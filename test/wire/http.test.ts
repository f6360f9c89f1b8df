import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { ERRORS } from '../../schema/errors.ts'
import { LIMITS } from '../../schema/limits.ts'
import { waitFor } from '../support/wait-for.ts'
import { openBystander } from '../support/wire/bystander.ts'
import { type Answer, dialRaw, fetchFrom, openCommands } from '../support/wire/clients.ts'
import { startTestLeader, type TestLeader, TOKEN } from '../support/wire/test-leader.ts'

const bearer = { Authorization: `Bearer ${TOKEN}` }

async function post(leader: TestLeader, operation: string, body: string, headers = {}): Promise<Answer> {
  return fetchFrom(leader, 'socket', `/v1/command/${operation}`, { method: 'POST', body, headers })
}

test.each(['socket', 'tcp'] as const)('W1 the same routes answer on the %s', async way => {
  const leader = await startTestLeader()
  leader.host.room('s1')
  const headers = way === 'tcp' ? bearer : {}
  const statuses = []
  for (const [method, path] of [
    ['GET', '/livez'],
    ['GET', '/readyz'],
    ['GET', '/healthz'],
    ['GET', '/metrics'],
    ['POST', '/v1/command/host.status'],
    ['GET', '/v1/sessions/s1/transcript'],
    ['PUT', '/v1/artifacts'],
    ['GET', '/'],
    ['GET', '/v1'],
    ['GET', '/v1/command'],
    ['GET', '/v1/artifacts/'],
    ['GET', '/%'],
    ['GET', '/v1/artifacts/../../metrics'],
  ] as const) {
    statuses.push([path, (await fetchFrom(leader, way, path, { method, headers })).status])
  }
  expect(statuses).toEqual([
    ['/livez', 200],
    ['/readyz', 200],
    ['/healthz', 200],
    ['/metrics', 200],
    ['/v1/command/host.status', 200],
    ['/v1/sessions/s1/transcript', 200],
    ['/v1/artifacts', 200],
    ['/', 404],
    ['/v1', 404],
    ['/v1/command', 404],
    ['/v1/artifacts/', 404],
    ['/%', 404],
    ['/v1/artifacts/../../metrics', 404],
  ])
})

test('W1 other methods are 405 and name the right one', async () => {
  const leader = await startTestLeader()
  const seen = []
  for (const [method, path] of [
    ['POST', '/livez'],
    ['DELETE', '/readyz'],
    ['POST', '/metrics'],
    ['GET', '/v1/command/host.status'],
    ['POST', '/v1/artifacts'],
    ['DELETE', `/v1/artifacts/sha256:${'0'.repeat(64)}`],
  ] as const) {
    const { status, headers } = await fetchFrom(leader, 'socket', path, { method })
    seen.push([path.slice(0, 20), status, headers.allow])
  }
  expect(seen).toEqual([
    ['/livez', 405, 'GET'],
    ['/readyz', 405, 'GET'],
    ['/metrics', 405, 'GET'],
    ['/v1/command/host.sta', 405, 'POST'],
    ['/v1/artifacts', 405, 'PUT'],
    ['/v1/artifacts/sha256', 405, 'GET'],
  ])
})

test.each([
  ['starting', 'starting', [], 503, 'starting recovery 3/12'],
  ['recovering', 'recovering', [], 503, 'starting recovery 3/12'],
  ['ready', 'ready', [], 200, 'ready'],
  ['draining', 'draining', [], 503, 'draining'],
  ['ready with a storage fault', 'ready', [{ code: 'storage_full' }], 503, 'storage'],
  ['ready with one damaged session', 'ready', [{ code: 'session_damaged', sessionId: 'secret-id' }], 200, 'ready'],
] as const)(
  'Z8 the probes of a leader that is %s tell its state and nothing else',
  async (_what, state, faults, status, words) => {
    const leader = await startTestLeader()
    Object.assign(leader.host, { state, faults, readiness: words })
    leader.host.room('secret-id')
    const probes = await Promise.all(['/readyz', '/healthz', '/livez'].map(path => fetchFrom(leader, 'tcp', path)))
    expect(probes.map(answer => [answer.status, answer.body])).toEqual([
      [status, `${words}\n`],
      [status, `${words}\n`],
      [200, 'ok\n'],
    ])
    const verbose = await fetchFrom(leader, 'tcp', '/readyz?verbose')
    expect([verbose.status, verbose.body]).toEqual([status, `${state}: ${words}\n`])
    expect(JSON.stringify([...probes, verbose])).not.toMatch(/secret-id|0\.1\.0|aaaaaa|0000-4000/)
  },
)

test('W1 an operation answers with its result, its revision and status 200', async () => {
  const leader = await startTestLeader()
  leader.host.operations.set('turn.query', input => ({ ok: true, result: { input }, revision: 3 }))
  const answer = await post(leader, 'turn.query', '{"turnId":"t1"}')
  expect([answer.status, answer.headers['content-type'], JSON.parse(answer.body)]).toEqual([
    200,
    'application/json; charset=utf-8',
    { ok: true, result: { input: { turnId: 't1' } }, revision: 3 },
  ])
})

test.each(Object.entries(ERRORS).filter(([, row]) => row.wire))(
  'W5 a refusal with %s has the status of the table',
  async (code, row) => {
    const leader = await startTestLeader()
    leader.host.operations.set('turn.query', () => ({
      ok: false,
      error: { code, message: 'words', detail: { path: 'x' } },
    }))
    const { status, body } = await post(leader, 'turn.query', '{}')
    expect([status, JSON.parse(body)]).toEqual([
      row.http,
      { ok: false, error: { code, message: 'words', detail: { path: 'x' } } },
    ])
  },
)

test.each(['[]', '5', 'null', '"text"', '{', 'not json', '{}{}'])('W2 the body %s is invalid_request', async body => {
  const leader = await startTestLeader()
  const answer = await post(leader, 'host.status', body)
  expect([answer.status, JSON.parse(answer.body)]).toMatchObject([
    400,
    { ok: false, error: { code: 'invalid_request' } },
  ])
  expect(leader.host.executed).toEqual([])
})

test('W2 a body of 256 KiB is read, one byte more is too_large', async () => {
  const leader = await startTestLeader()
  const body = (bytes: number) => `{"t":"${'x'.repeat(bytes - 8)}"}`
  expect((await post(leader, 'host.status', body(LIMITS.commandFrameBytes))).status).toBe(200)
  const answer = await post(leader, 'host.status', body(LIMITS.commandFrameBytes + 1))
  expect([answer.status, JSON.parse(answer.body).error.code]).toEqual([413, 'too_large'])
  expect(leader.host.executed).toHaveLength(1)
})

test('L1 who sent a command over HTTP: its headers, else the ticket’s client, else the connection', async () => {
  const leader = await startTestLeader()
  const actorAfter = async (headers: Record<string, string>) => {
    await post(leader, 'host.status', '{}', headers)
    return leader.host.executed.at(-1)!.caller.actor
  }
  const { accepted } = await openCommands(leader, { surface: 'tui', clientInstanceId: 'me' })
  const ticket = { Authorization: `Bearer ${accepted.ticket}` }
  expect(await actorAfter({ 'x-headwater-surface': 'cron', 'x-headwater-client': 'job-1' })).toEqual({
    surface: 'cron',
    clientInstanceId: 'job-1',
  })
  expect(await actorAfter(ticket)).toEqual({ surface: 'tui', clientInstanceId: 'me' })
  expect(await actorAfter({ ...ticket, 'x-headwater-surface': 'cron' })).toEqual({
    surface: 'cron',
    clientInstanceId: 'me',
  })
  const [first, second] = [await actorAfter({}), await actorAfter({})]
  expect([first.surface, second.surface, first.clientInstanceId === second.clientInstanceId]).toEqual([
    'http',
    'http',
    false,
  ])
  expect((await post(leader, 'host.status', '{}', { 'x-headwater-client': '../etc' })).status).toBe(400)
})

test('M2 over HTTP a draining leader still tells its state and refuses the rest', async () => {
  const leader = await startTestLeader()
  leader.host.state = 'draining'
  expect(JSON.parse((await post(leader, 'host.status', '')).body)).toMatchObject({
    ok: true,
    result: { state: 'draining' },
  })
  expect((await post(leader, 'turn.query', '')).status).toBe(503)
})

test('L3 transcript pages go through transcript.page', async () => {
  const leader = await startTestLeader()
  leader.host.room('s1')
  const asked = async (query: string) =>
    JSON.parse((await fetchFrom(leader, 'socket', `/v1/sessions/s1/transcript${query}`)).body).result.asked
  expect(await asked('')).toEqual({ sessionId: 's1', limit: LIMITS.transcriptPageEntries })
  expect(await asked('?before=40&limit=5')).toEqual({ sessionId: 's1', before: 40, limit: 5 })
  expect((await fetchFrom(leader, 'socket', '/v1/sessions/none/transcript')).status).toBe(404)
})

test('L5 an artifact is stored by its hash and streamed back as a download', async () => {
  const leader = await startTestLeader()
  const bytes = Buffer.alloc(300 * 1024, 'artifact ')
  const put = await fetchFrom(leader, 'tcp', '/v1/artifacts', {
    method: 'PUT',
    body: bytes,
    headers: { ...bearer, 'content-type': 'text/html' },
  })
  const hash = `sha256:${createHash('sha256').update(bytes).digest('hex')}`
  expect([put.status, JSON.parse(put.body)]).toEqual([200, { ok: true, result: { hash } }])
  for (const path of [hash, encodeURIComponent(hash)]) {
    const got = await fetchFrom(leader, 'tcp', `/v1/artifacts/${path}`, { headers: bearer })
    expect([got.status, got.body === bytes.toString()]).toEqual([200, true])
    expect(got.headers).toMatchObject({
      'content-type': 'text/html',
      'content-length': String(bytes.length),
      'content-disposition': 'attachment',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining('sandbox'),
    })
  }
})

test('L5 an artifact over its limit is too_large and not kept', async () => {
  const leader = await startTestLeader({ artifactBytes: 1_000 })
  const put = (body: Buffer, headers = {}) =>
    fetchFrom(leader, 'socket', '/v1/artifacts', { method: 'PUT', body, headers })
  expect((await put(Buffer.alloc(1_000))).status).toBe(200)
  expect((await put(Buffer.alloc(1_001))).status).toBe(413)
  expect((await put(Buffer.alloc(1_001), { 'transfer-encoding': 'chunked' })).status).toBe(413)
  expect(leader.host.artifacts.size).toBe(1)
})

test('L5 an unknown hash, and what is none, is not_found', async () => {
  const leader = await startTestLeader()
  for (const hash of [`sha256:${'0'.repeat(64)}`, 'sha256:abc', '..%2f..%2fetc%2fpasswd', '__proto__']) {
    expect((await fetchFrom(leader, 'socket', `/v1/artifacts/${hash}`)).status).toBe(404)
  }
})

test('L5 a type that could break out of its header is served as plain bytes', async () => {
  const leader = await startTestLeader()
  leader.host.artifacts.set(`sha256:${'1'.repeat(64)}`, {
    bytes: Buffer.from('x'),
    mimeType: 'text/html\r\nSet-Cookie: a=b',
  })
  const got = await fetchFrom(leader, 'socket', `/v1/artifacts/sha256:${'1'.repeat(64)}`)
  expect([got.status, got.headers['content-type'], got.headers['set-cookie']]).toEqual([
    200,
    'application/octet-stream',
    undefined,
  ])
})

test('W1 page navigation to localhost is sent to 127.0.0.1, other requests to it are refused', async () => {
  const leader = await startTestLeader()
  const Host = `localhost:${leader.port}`
  const page = await fetchFrom(leader, 'tcp', '/s/abc?x=1', { headers: { Host, Accept: 'text/html,*/*' } })
  expect([page.status, page.headers.location]).toEqual([307, `http://127.0.0.1:${leader.port}/s/abc?x=1`])
  const typed = await fetchFrom(leader, 'tcp', '//evil.example/', { headers: { Host, 'Sec-Fetch-Mode': 'navigate' } })
  expect(typed.headers.location).toBe(`http://127.0.0.1:${leader.port}//evil.example/`)
  expect((await fetchFrom(leader, 'tcp', '/livez', { headers: { Host } })).status).toBe(403)
  expect((await fetchFrom(leader, 'tcp', '/', { method: 'POST', headers: { Host, Accept: 'text/html' } })).status).toBe(
    403,
  )
})

test('W1 metrics are Prometheus text and name no session, token or path', async () => {
  const leader = await startTestLeader()
  const bystander = await openBystander(leader)
  await bystander.expectUnharmed()
  await post(leader, 'made.up.by.someone', '{}')
  const { headers, body } = await fetchFrom(leader, 'tcp', '/metrics', { headers: bearer })
  expect(headers['content-type']).toContain('text/plain; version=0.0.4')
  expect(body).toContain('headwater_commands_total{kind="host.status",outcome="ok"} 1')
  expect(body).toContain('headwater_commands_total{kind="unknown",outcome="invalid_request"} 1')
  expect(body).toContain('headwater_handshakes_total{outcome="accepted"} 1')
  expect(body).toContain('headwater_replicas{kind="other"} 1')
  expect(body).not.toMatch(/quiet|made\.up|\/v1\//)
})

test('Z5 too many requests at once on one connection are rate_limited', async () => {
  const leader = await startTestLeader({ commandsInFlight: 2 })
  let release = () => {}
  const gate = new Promise<void>(resolve => {
    release = resolve
  })
  leader.host.operations.set('turn.query', async () => {
    await gate
    return { ok: true, result: {} }
  })
  const raw = await dialRaw(leader, 'socket')
  const request = 'POST /v1/command/turn.query HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}'
  raw.socket.write(request.repeat(4))
  await waitFor(() => leader.host.executed.length === 2)
  release()
  await waitFor(() => raw.received().toString().split('HTTP/1.1 ').length === 5)
  expect(
    [
      ...raw
        .received()
        .toString()
        .matchAll(/HTTP\/1\.1 (\d+)/g),
    ].map(([, status]) => status),
  ).toEqual(['200', '200', '429', '429'])
  raw.socket.destroy()
})

test('W5 an operation that throws is 500 and says nothing of itself', async () => {
  const leader = await startTestLeader()
  leader.host.operations.set('turn.query', () => {
    throw new Error('secret words')
  })
  const answer = await post(leader, 'turn.query', '{}')
  expect([answer.status, JSON.parse(answer.body).error.code]).toEqual([500, 'internal_failure'])
  expect(answer.body + leader.logLines.join('')).not.toContain('secret words')
})
