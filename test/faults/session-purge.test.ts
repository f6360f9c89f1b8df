import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type TestRoot, testRoot } from '../support/live/test-root.ts'
import { waitFor } from '../support/wait-for.ts'

const SECRET = 'secret-0b7d4c1f9a26e83d5c70f1b4a9e2d836'
const SCRIPTED = { cwd: '/tmp', backend: 'scripted' }

/** True if the text stands in the database; looked at again where files came or went meanwhile. */
async function holds(root: TestRoot, text: string): Promise<boolean> {
  const directory = join(root.path, 'database')
  for (;;) {
    const names = await readdir(directory)
    const files = names.map(name => readFile(join(directory, name)).catch(() => Buffer.alloc(0)))
    const isFound = (await Promise.all(files)).some(bytes => bytes.includes(text))
    if ((await readdir(directory)).join() === names.join()) return isFound
  }
}

/** A root with the sessions `kept`, `gone` and `forked`, which was made from `gone`. */
async function filledRoot(): Promise<TestRoot> {
  const root = testRoot()
  const leader = await root.start()
  const connection = await root.connect()
  for (const sessionId of ['kept', 'gone', 'late']) {
    await connection.createSession({ sessionId, ...SCRIPTED })
    const turns = [SECRET, '/tool 40000', `/stream ${300 * 1024}`].map(
      (text, i) => [`${sessionId}-${i}`, text] as const,
    )
    for (const [turnId, text] of turns) {
      await connection.startTurn({ sessionId, turnId, content: { text: sessionId === 'kept' ? 'hello' : text } })
      await waitFor(async () => 'terminalEventId' in (await connection.request('turn.query', { sessionId, turnId })))
    }
  }
  await connection.request('session.fork', { sessionId: 'gone', fromTurnId: 'gone-2', newSessionId: 'forked' })
  await connection.close()
  await leader.kill()
  return root
}

async function remove(root: TestRoot, sessionId: string): Promise<void> {
  const connection = await root.connect()
  const { revision } = (await connection.request('session.get', { sessionId })).session
  const input = { sessionId, operationId: `delete-${sessionId}`, expectedRevision: revision }
  await connection.request('session.delete', input)
  await connection.close()
}

/** Starts a leader that kills itself when a purge passes the point for the n-th time; false if it came to rest instead. */
async function diesAt(root: TestRoot, passes: number): Promise<boolean> {
  const leader = root.spawn({
    args: ['--idle-exit', '300ms'],
    env: { HEADWATER_CRASH_AT: `mid_delete:${passes}` },
  })
  // It ends by itself when its purge is done, once somebody was here.
  const visit = leader.ready.then(() => root.connect()).then(connection => connection.close())
  await visit.catch(() => {})
  const { signal } = await leader.exited
  return signal === 'SIGKILL'
}

test('S5 X13 a leader that is killed anywhere in a purge, any number of times, goes on with it and comes to its end', async () => {
  const root = await filledRoot()
  const first = await root.start({ env: { HEADWATER_CRASH_AT: 'mid_delete:1' } })
  await remove(root, 'late').catch(() => {})
  await first.exited
  let kills = 1
  for (const at of [1, 2, 1, 1, 3, 1]) if (await diesAt(root, at)) kills += 1
  expect(kills).toBeGreaterThan(3)
  const leader = await root.start()
  const connection = await root.connect()
  await expect(connection.request('session.get', { sessionId: 'late' })).rejects.toMatchObject({ code: 'not_found' })
  const again = { sessionId: 'late', operationId: 'delete-late', expectedRevision: 2 }
  expect(await connection.request('session.delete', again)).toEqual({ kind: 'deleted' })
  await expect(connection.createSession({ sessionId: 'late', ...SCRIPTED })).rejects.toMatchObject({
    code: 'operation_conflict',
  })
  const { sessions } = await connection.request('session.list', {})
  expect(sessions.map(({ sessionId }) => sessionId).sort()).toEqual(['forked', 'gone', 'kept'])
  await remove(root, 'gone')
  expect(await connection.request('root.verify', {})).toMatchObject({ faults: [] })
  const { entries } = await connection.request('transcript.page', { sessionId: 'forked', limit: 2 })
  expect(entries.length).toBe(2)
  await remove(root, 'forked')
  await waitFor(async () => !(await holds(root, SECRET)), { what: 'the deleted text to be gone' })
  expect(await connection.request('root.verify', {})).toMatchObject({ sessions: 1, faults: [] })
  await connection.close()
  expect(await leader.stop()).toMatchObject({ code: 0 })
  await root.offline(async store => {
    expect((await store.readAdmissionChain('kept')).map(({ turnId }) => turnId)).toEqual(['kept-0', 'kept-1', 'kept-2'])
    await expect(store.readSession('late')).rejects.toMatchObject({ code: 'not_found' })
  })
})
