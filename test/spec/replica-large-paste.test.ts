import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { isLargePaste } from '../../replica/client/commands/large-paste.ts'
import { Content } from '../../schema/entities/content.ts'
import { LIMITS } from '../../schema/limits.ts'
import { World } from '../support/replica/world.ts'

const PASTE = `${'line with é and 👍\n'.repeat(3_000)}end`

test('C1 a paste over the limit becomes an attachment that everyone sees, and the same again on a retry', async () => {
  const world = new World()
  const connection = await world.connect()
  world.leader.onCommand = command => world.leader.reply(command, {})
  const command = { sessionId: 's1', turnId: 't1', content: { text: PASTE, quotes: [{ text: 'q' }] } }
  await world.during(connection.startTurn(command))
  await world.during(connection.startTurn(command))
  const [first, second] = world.leader.commands.map(({ input }) => input.content as Content)
  const bytes = Buffer.from(PASTE)
  const hash = createHash('sha256').update(bytes).digest('hex')
  const name = `pasted-text-${hash.slice(0, 8)}.txt`
  expect(first?.attachments).toEqual([
    {
      kind: 'file',
      name,
      mimeType: 'text/plain; charset=utf-8',
      bytes: bytes.length,
      ref: { artifact: `sha256:${hash}` },
    },
  ])
  expect(first?.text.startsWith('line with é and 👍\n')).toBe(true)
  expect(first?.text).toContain(name)
  expect(first?.displayText).toMatch(/^Pasted text \(\d+ bytes\): line with é/)
  expect(first?.quotes).toEqual([{ text: 'q' }])
  expect(Content.safeParse(first).success).toBe(true)
  expect(second).toEqual(first)
  expect(Buffer.from(world.leader.uploads[0]?.bytes ?? []).equals(bytes)).toBe(true)
  expect(world.leader.uploads[0]?.bearer).toBe('Bearer ticket-c1')
})

test('C1 a text at the limit is sent as it is, one byte more is uploaded; other content is for the schema to judge', async () => {
  const limit = 'a'.repeat(LIMITS.messageTextBytes)
  expect([limit, `${limit}a`, 3, undefined].map(text => isLargePaste({ text }))).toEqual([false, true, false, false])
  const world = new World()
  const connection = await world.connect()
  world.leader.onCommand = command => world.leader.reply(command, {})
  await world.during(connection.startTurn({ sessionId: 's1', turnId: 't1', content: { text: limit } }))
  expect([world.leader.uploads.length, world.leader.commands[0]?.input.content]).toEqual([0, { text: limit }])
})

test('C1 a paste that cannot be uploaded is not sent', async () => {
  const world = new World()
  const connection = await world.connect()
  const command = { sessionId: 's1', turnId: 't1', content: { text: PASTE } }
  const answers: [{ status: number; body: string }, string][] = [
    [{ status: 507, body: '{"ok":false,"error":{"code":"storage_full","message":"full"}}' }, 'storage_full'],
    [{ status: 200, body: '<html>' }, 'internal_failure'],
    [{ status: 200, body: `{"ok":true,"result":{"hash":"sha256:${'0'.repeat(64)}"}}` }, 'internal_failure'],
  ]
  for (const [answer, code] of answers) {
    world.network.leader = { open: end => world.leader.open(end), http: () => answer }
    await expect(world.during(connection.startTurn(command))).rejects.toMatchObject({ code })
  }
  world.kill()
  await world.network.flush()
  await expect(connection.startTurn(command)).rejects.toMatchObject({ code: 'offline' })
  expect(world.leader.commands).toEqual([])
})
