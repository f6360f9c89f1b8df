import { expect, test } from 'vitest'
import type { SessionHeader } from '../../schema/entities/session.ts'
import type { TextEntry } from '../../schema/entities/transcript.ts'
import { startTestLeader, type TestLeader } from '../support/start-test-leader.ts'
import { waitFor } from '../support/wait-for.ts'

/** The children of a session, the oldest first. */
async function childrenOf(leader: TestLeader, sessionId: string): Promise<readonly SessionHeader[]> {
  const { sessions } = await leader.ok('session.list', {})
  return sessions.filter(each => each.parent?.sessionId === sessionId).sort((a, b) => a.createdAt - b.createdAt)
}

function onlyChild(leader: TestLeader, sessionId: string): Promise<SessionHeader> {
  return waitFor(async () => (await childrenOf(leader, sessionId))[0], { what: `a child of ${sessionId}` })
}

/** What a turn answered. */
async function answerOf(leader: TestLeader, sessionId: string, turnId: string): Promise<string> {
  const { entries } = await leader.ok('transcript.page', { sessionId, limit: 100 })
  return entries
    .filter((entry): entry is TextEntry => entry.kind === 'assistant' && entry.turnId === turnId)
    .map(entry => entry.text)
    .join('')
}

test('T13 F /child starts a linked child session, waits for it and reports its answer', async () => {
  const leader = await startTestLeader()
  await leader.ok('session.create', {
    sessionId: 'p',
    cwd: '/srv',
    backend: 'scripted',
    permissionMode: 'explore',
    model: 'm1',
  })
  await leader.startTurn('p', 't1', '/child bob')
  expect(await leader.ended('p', 't1')).toMatchObject({ status: 'completed' })
  expect(await answerOf(leader, 'p', 't1')).toBe('bob answered: hello from bob')
  const [child] = await childrenOf(leader, 'p')
  expect(child).toMatchObject({
    title: 'bob: hello from bob',
    titleIsManual: false,
    cwd: '/srv',
    backend: 'scripted',
    model: 'm1',
    permissionMode: 'explore',
    collaborationMode: 'agent',
    status: 'idle',
    parent: { sessionId: 'p', turnId: 't1', agentId: expect.any(String), agentName: 'bob' },
  })
})
