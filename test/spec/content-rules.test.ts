import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { HandBackend } from '../support/hand-backend.ts'
import { startTestLeader, type TestLeader } from '../support/start-test-leader.ts'
import { waitFor } from '../support/wait-for.ts'

async function handLeader(): Promise<{ leader: TestLeader; hand: HandBackend }> {
  const hand = new HandBackend()
  const leader = await startTestLeader({ backends: [hand] })
  await leader.create('s', 'hand')
  return { leader, hand }
}

const digest = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`
const attached = (hash: string) => ({
  text: 'see',
  attachments: [{ kind: 'file' as const, name: 'a.txt', mimeType: 'text/plain', bytes: 5, ref: { artifact: hash } }],
})

test('C1 an attachment names an artifact that is here; it may be uploaded before', async () => {
  const { leader, hand } = await handLeader()
  const hash = digest('hello')
  const commands = [
    ['turn.start', { turnId: 't1' }],
    ['turn.message.submit', { originHostEpoch: 'e', messageId: 'm1', placement: 'next_turn' }],
  ] as const
  for (const [operation, input] of commands) {
    const answer = await leader.call(operation, { sessionId: 's', ...input, content: attached(hash) })
    expect([operation, answer]).toMatchObject([
      operation,
      { status: 404, error: { code: 'not_found', detail: { artifact: hash } } },
    ])
  }
  expect(await leader.revision('s')).toBe(1)
  const put = await leader.http('PUT', '/v1/artifacts', { body: 'hello', headers: { 'content-type': 'text/plain' } })
  expect(JSON.parse(put.body.toString())).toMatchObject({ ok: true, result: { hash } })
  await leader.ok('turn.start', { sessionId: 's', turnId: 't1', content: attached(hash) })
  const { context } = await hand.run('t1')
  expect(context.input).toEqual(attached(hash))
  expect(Buffer.from((await context.readArtifact(hash)) ?? []).toString()).toBe('hello')
  expect(await leader.ok('artifact.get', { hash })).toMatchObject({ bytes: 5, mimeType: 'text/plain' })
  expect((await leader.http('GET', `/v1/artifacts/${hash}`)).body.toString()).toBe('hello')
  const waiting = {
    sessionId: 's',
    originHostEpoch: 'e',
    messageId: 'm1',
    placement: 'next_turn',
    content: { text: 'x' },
  }
  await leader.ok('turn.message.submit', { ...waiting, placement: 'next_turn' })
  const absent = digest('never uploaded')
  const edit = { sessionId: 's', entryId: 'm1', expectedEntryRevision: 1, content: attached(absent) }
  expect(await leader.call('queue.edit', edit)).toMatchObject({
    status: 404,
    error: { code: 'not_found', detail: { artifact: absent } },
  })
})

test('C1 a path is not looked at, and the order of attachments and quotes stays', async () => {
  const { leader, hand } = await handLeader()
  const file = (name: string) => ({
    kind: 'image' as const,
    name,
    mimeType: 'image/png',
    bytes: 1,
    ref: { path: `/nowhere/${name}` },
  })
  const content = {
    text: 'x',
    attachments: ['b', 'a', 'c'].map(file),
    quotes: [{ text: '2' }, { text: '1', label: 'l' }],
  }
  await leader.ok('turn.start', { sessionId: 's', turnId: 't1', content })
  expect((await hand.run('t1')).context.input).toEqual(content)
})

const TEXTS = [
  'plain',
  'nul \u0000 inside',
  'line\r\nline\rline\n',
  'family 👩‍👩‍👧‍👦 e\u0301 \ufeff',
  '\u202eabc\u202c العربية עברית',
  '\u001b[31mred\u001b[0m',
  '😀',
] as const

test('C3 every character survives, the same everywhere and after a restart; half a character becomes U+FFFD', async () => {
  const { leader, hand } = await handLeader()
  const texts = [...TEXTS, 'high \ud83d end', '\ude00 low', 'swapped \ude00\ud83d']
  const expected = texts.map(text => text.toWellFormed())
  expect(expected.at(-1)).toBe('swapped \ufffd\ufffd')
  const shown = async (): Promise<unknown> => {
    const page = await leader.ok('transcript.page', { sessionId: 's', limit: 200 })
    return page.entries.map(entry => (entry.kind === 'user' ? entry.content.text : 'text' in entry ? entry.text : ''))
  }
  for (const [i, text] of texts.entries()) {
    await leader.ok('turn.start', { sessionId: 's', turnId: `t${i}`, content: { text } })
    const run = await hand.run(`t${i}`)
    expect(run.context.input.text).toBe(expected[i])
    await run.context.text(text)
    run.complete()
    await leader.ended('s', `t${i}`)
  }
  const both = expected.flatMap(text => [text, text])
  expect(await shown()).toEqual(both)
  const sealed = (await leader.ledger('s')).flatMap(r => r.events).filter(e => e.type === 'text_sealed')
  expect(sealed.map(e => e.payload.text)).toEqual(expected)
  await leader.restart({ backends: [hand] })
  expect(await shown()).toEqual(both)
  const verified = await leader.ok('root.verify', {})
  expect(verified.faults).toEqual([])
})

test('C3 text that comes in halves is put together', async () => {
  const { leader, hand } = await handLeader()
  await leader.startTurn('s', 't1', 'x')
  const run = await hand.run('t1')
  const [high, low] = ['\ud83d', '\ude00']
  for (const piece of ['a', high, `${low}b`, high, 'c', high]) void run.context.text(piece as string)
  run.complete()
  await leader.ended('s', 't1')
  const page = await leader.ok('transcript.page', { sessionId: 's', limit: 5 })
  expect(page.entries.at(-1)).toMatchObject({ kind: 'assistant', text: 'a😀b\ufffdc\ufffd' })
})

const FORBIDDEN = [
  ['session.create', '{"sessionId":"n","cwd":"/","backend":"scripted","__proto__":{"title":"x"}}', '__proto__'],
  ['turn.start', '{"sessionId":"s","turnId":"t","content":{"text":"x","constructor":1}}', 'content.constructor'],
  [
    'turn.start',
    '{"sessionId":"s","turnId":"t","content":{"text":"x","quotes":[{"text":"q"},{"prototype":{}}]}}',
    'content.quotes[1].prototype',
  ],
  [
    'interaction.answer',
    '{"interactionId":"i","answer":{"kind":"form","values":{"a":{"__proto__":1}}}}',
    'answer.values.a.__proto__',
  ],
] as const

test.each(FORBIDDEN)('C4 %s with %s is refused at %s', async (operation, body, path) => {
  const { leader } = await handLeader()
  const answer = await leader.call(operation, body)
  expect(answer).toMatchObject({ status: 400, error: { code: 'invalid_request', detail: { path } } })
  expect(await leader.revision('s')).toBe(1)
})

test('C3 C4 keys of a form’s values are text too, and the words are free as values', async () => {
  const { leader, hand } = await handLeader()
  await leader.startTurn('s', 't1', '__proto__')
  const run = await hand.run('t1')
  const asked = run.context.form({ schema: { properties: { 'a\ufffd': { type: 'string' } } } })
  const [pending] = await waitFor(async () => {
    const { interactions } = await leader.ok('interaction.list', {})
    return interactions.length > 0 ? interactions : null
  })
  const values = { 'a\ud800': 'constructor \udc00' }
  await leader.ok('interaction.answer', {
    interactionId: pending?.interactionId as string,
    answer: { kind: 'form', values },
  })
  expect(await asked).toMatchObject({ answer: { kind: 'form', values: { 'a\ufffd': 'constructor \ufffd' } } })
})

test.each([
  ['interaction.answer', '{"interactionId":"i","answer":{"kind":"form","values":{"a":1e999}}}', 'answer.values.a'],
  [
    'interaction.answer',
    '{"interactionId":"i","answer":{"kind":"form","values":{"a":[-1e999]}}}',
    'answer.values.a[0]',
  ],
  ['ledger.page', '{"sessionId":"s","limit":1e999}', 'limit'],
])('W2 %s with %s, a number no JSON can carry on, is refused at %s', async (operation, body, path) => {
  const { leader } = await handLeader()
  const answer = await leader.call(operation, body)
  expect(answer).toMatchObject({ status: 400, error: { code: 'invalid_request', detail: { path } } })
})
