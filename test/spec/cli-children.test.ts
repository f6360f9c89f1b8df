import { expect, test } from 'vitest'
import { sessionRows } from '../../replica/view/session-list.ts'
import { inTree } from '../../replica/view/session-tree.ts'
import type { CatalogRow } from '../../schema/entities/projection.ts'
import type { SessionHeader } from '../../schema/entities/session.ts'
import { callCli } from '../support/cli/call-cli.ts'
import { FakeLeader } from '../support/cli/fake-leader.ts'

const parentOf = (sessionId: string) => ({ sessionId, turnId: 't1', agentId: 'a1', agentName: 'bob' })

/** A session with a child that has a child, another session, and a child whose parent is not here. */
function family(): FakeLeader {
  const leader = new FakeLeader()
  leader.addSession('grandchild', { title: 'bob: again', parent: parentOf('child') })
  leader.addSession('other', { title: 'Other' })
  leader.addSession('child', { title: 'bob: hello', parent: parentOf('top') })
  leader.addSession('top', { title: 'Top' })
  leader.addSession('lost', { title: 'Lost', parent: parentOf('gone') })
  return leader
}

const firstColumn = (stdout: string, separator: RegExp): readonly string[] =>
  stdout
    .split('\n')
    .filter(line => line !== '')
    .map(line => line.split(separator)[0] ?? '')

test('T13 session list shows children below their parent, marked in a terminal', async () => {
  const { stdout } = await callCli(['session', 'list'], { leader: family(), isTerminal: true })
  const column = firstColumn(stdout, /(?<=\S) {2,}/)
  expect(column).toEqual(['SESSION', 'other', 'top', '└ child', '  └ grandchild', 'lost'])
})

test('T13 session list gives bare ids where no terminal is, and the page of the leader as JSON', async () => {
  const piped = await callCli(['session', 'list'], { leader: family() })
  expect(firstColumn(piped.stdout, /\t/)).toEqual(['other', 'top', 'child', 'grandchild', 'lost'])
  const { stdout } = await callCli(['--json', 'session', 'list'], { leader: family() })
  const { sessions } = (JSON.parse(stdout) as { result: { sessions: readonly SessionHeader[] } }).result
  expect(sessions.map(each => each.sessionId)).toEqual(['grandchild', 'other', 'child', 'top', 'lost'])
})

test('T13 session show names the parent of a child, and of nothing else', async () => {
  const child = await callCli(['session', 'show', 'child'], { leader: family() })
  expect(child.stderr).toContain('parent\ttop, turn t1, as bob\n')
  expect((await callCli(['session', 'show', 'top'], { leader: family() })).stderr).not.toContain('parent')
})

test('T13 sessions that name each other as parents are all shown, once', () => {
  const header = (sessionId: string, above: string) => ({ sessionId, parent: parentOf(above) }) as SessionHeader
  const rows = inTree([header('a', 'b'), header('b', 'a'), header('c', 'c')])
  expect(rows.map(({ session, depth }) => [session.sessionId, depth])).toEqual([
    ['a', 0],
    ['b', 1],
    ['c', 0],
  ])
  const known = { title: '', status: 'idle' as const, isArchived: false, queueCount: 0, pendingCount: 0, revision: 1 }
  const row = (sessionId: string, above: string): CatalogRow => ({
    ...known,
    sessionId,
    lastActivityAt: 0,
    parent: parentOf(above),
  })
  const listed = sessionRows([row('a', 'b'), row('b', 'a'), row('c', 'c')], { now: 0 })
  expect(listed.map(({ sessionId, depth }) => [sessionId, depth])).toEqual([
    ['a', 0],
    ['b', 1],
    ['c', 0],
  ])
})
