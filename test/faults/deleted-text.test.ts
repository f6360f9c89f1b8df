import { hash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startTestLeader, type TestLeader } from '../support/start-test-leader.ts'
import { waitFor } from '../support/wait-for.ts'

/** Files of the root's database in which a text stands; looked at again where files came or went meanwhile. */
async function filesWith(leader: TestLeader, text: string): Promise<readonly string[]> {
  const directory = join(leader.root, 'database')
  for (;;) {
    const names = await readdir(directory)
    const found: string[] = []
    for (const name of names) {
      const bytes = await readFile(join(directory, name)).catch(() => Buffer.alloc(0))
      if (bytes.includes(text)) found.push(name)
    }
    if ((await readdir(directory)).join() === names.join()) return found
  }
}

/** Text that no compression shortens and that shares nothing with another one, so that it is found in one piece. */
const secret = (name: string): string => hash('sha256', name, 'base64url')

async function say(leader: TestLeader, sessionId: string, name: string): Promise<void> {
  const turnId = `${sessionId}-${name}`
  await leader.startTurn(sessionId, turnId, secret(name))
  await leader.ended(sessionId, turnId)
}

async function remove(leader: TestLeader, sessionId: string): Promise<void> {
  const { revision } = (await leader.ok('session.get', { sessionId })).session
  await leader.ok('session.delete', { sessionId, operationId: 'delete', expectedRevision: revision })
}

test.each([
  ['before any table was written', 0],
  ['when it lies in tables already', 1],
  ['when it lies in several layers of tables', 3],
])('S5 deleted text leaves the disk: %s', async (_when, restarts) => {
  const leader = await startTestLeader()
  for (const sessionId of ['kept', 'gone']) await leader.create(sessionId)
  await say(leader, 'gone', 'first')
  await say(leader, 'kept', 'other')
  for (let i = 0; i < restarts; i++) {
    await leader.restart()
    await say(leader, 'gone', `later${i}`)
  }
  // A question that was answered, and what a tool said, live outside of the session's own records.
  await leader.ok('turn.start', { sessionId: 'gone', turnId: 'tool', content: { text: '/tool 40000' } })
  await leader.ended('gone', 'tool')
  const names = ['first', ...Array.from({ length: restarts }, (_, i) => `later${i}`)]
  for (const name of names) expect((await filesWith(leader, secret(name))).length).toBeGreaterThan(0)
  await remove(leader, 'gone')
  for (const name of names) {
    await waitFor(async () => (await filesWith(leader, secret(name))).length === 0, { what: `${name} to be gone` })
  }
  expect((await filesWith(leader, secret('other'))).length).toBeGreaterThan(0)
  await leader.restart()
  expect(await filesWith(leader, secret('first'))).toEqual([])
  const page = await leader.ok('transcript.page', { sessionId: 'kept', limit: 10 })
  expect(page.entries).toMatchObject([{ content: { text: secret('other') } }, { text: secret('other') }])
})

test('S5 S6 the title of a deleted fork, which is what was said first, leaves the disk too', async () => {
  const leader = await startTestLeader()
  await leader.create('source')
  await say(leader, 'source', 'named')
  const forking = { sessionId: 'source', fromTurnId: 'source-named', newSessionId: 'fork' }
  const { session } = await leader.ok('session.fork', forking)
  expect(session.title).toBe(secret('named'))
  for (const sessionId of ['source', 'fork']) await remove(leader, sessionId)
  await waitFor(async () => (await filesWith(leader, secret('named'))).length === 0, { what: 'the title to be gone' })
  const receipt = { sessionId: 'fork', operation: 'session.fork', id: 'fork' }
  expect(await leader.ok('receipt.query', receipt)).toEqual({ stored: true, result: null })
  await leader.restart()
  expect(await filesWith(leader, secret('named'))).toEqual([])
})
