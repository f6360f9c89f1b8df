import { expect, test } from 'vitest'
import { startCli } from '../support/cli/call-cli.ts'
import { FakeLeader } from '../support/cli/fake-leader.ts'

const DELETED = { kind: 'deleted' as const }

/** A leader with one session of three entries; what it was asked to delete. */
function stage(): { leader: FakeLeader; deleted: unknown[] } {
  const leader = new FakeLeader()
  leader.addSession('s1', { title: 'First' })
  const deleted: unknown[] = []
  leader.operations['session.delete'] = input => {
    deleted.push(input)
    return DELETED
  }
  leader.operations['transcript.page'] = () => ({ entries: [], firstSeq: 3, lastSeq: 3, hasMore: true })
  return { leader, deleted }
}

test('S5 session remove says what will be lost and wants a word typed', async () => {
  const { leader, deleted } = stage()
  const call = startCli(['session', 'remove', 's1'], { leader, isTerminal: true })
  await call.seen('Type remove to go on:', 'stderr')
  expect(call.stderr()).toContain('session s1 (First) with 3 entries')
  call.type('remove')
  expect((await call.ended).code).toBe(0)
  expect(deleted).toMatchObject([
    { sessionId: 's1', expectedRevision: leader.session('s1').projection.session.revision },
  ])
})

test.each(['', 'yes', 's1'])('S5 session remove does nothing after %j', async answer => {
  const { leader, deleted } = stage()
  const call = startCli(['session', 'remove', 's1'], { leader, isTerminal: true })
  await call.seen('Type remove to go on:', 'stderr')
  call.type(answer)
  expect((await call.ended).code).toBe(3)
  expect(deleted).toEqual([])
})

test('S5 session remove without a terminal needs --yes; --dry-run removes nothing', async () => {
  const { leader, deleted } = stage()
  const end = async (...args: string[]) => await startCli(['session', 'remove', 's1', ...args], { leader }).ended
  expect((await end()).code).toBe(7)
  expect((await end('--dry-run')).code).toBe(0)
  expect(deleted).toEqual([])
  const { code, stdout } = await end('--yes', '--json')
  expect([code, JSON.parse(stdout)]).toEqual([0, { ok: true, result: DELETED }])
  expect(deleted).toHaveLength(1)
})

test('S5 session remove reads a header that changed meanwhile again', async () => {
  const { leader } = stage()
  let tries = 0
  leader.operations['session.delete'] = () => {
    tries += 1
    return tries === 1 ? { kind: 'revision_conflict', expected: 1, actual: 2 } : DELETED
  }
  expect((await startCli(['session', 'remove', 's1', '--yes'], { leader }).ended).code).toBe(0)
  expect(tries).toBe(2)
})

test('S6 session fork takes the newest turn that has ended, or the one that is named, and prints the new id', async () => {
  const { leader } = stage()
  const asked: { fromTurnId: string; newSessionId: string }[] = []
  leader.operations['session.fork'] = input => {
    asked.push(input)
    return { session: { ...leader.session('s1').projection.session, sessionId: input.newSessionId } }
  }
  const end = async (...args: string[]) => await startCli(['session', 'fork', 's1', ...args], { leader }).ended
  expect((await end()).code).toBe(3)
  leader.only.start('turn-1', 'hello')
  leader.only.complete()
  const { code, stdout } = await end()
  expect([code, stdout]).toEqual([0, `${asked[0]?.newSessionId}\n`])
  await end('--at', 'turn-0')
  expect(asked.map(({ fromTurnId }) => fromTurnId)).toEqual(['turn-1', 'turn-0'])
})

test('Q6 queue edit - holds the entry while it is typed, and lets go of it when nothing comes', async () => {
  const { leader } = stage()
  const entry = {
    entryId: 'entry-1',
    messageId: 'entry-1',
    content: { text: 'old' },
    placement: 'next_turn' as const,
    state: 'queued' as const,
    submittedBy: { surface: 'run', clientInstanceId: 'client-1' },
    revision: 1,
  }
  leader.only.setQueue([entry])
  const asked: unknown[] = []
  leader.operations['queue.hold'] = ({ release }) => {
    asked.push(release === true ? 'release' : 'hold')
    return { queueRevision: 1, entry }
  }
  leader.operations['queue.edit'] = ({ content }) => {
    asked.push(content.text)
    return { queueRevision: 2, entry: { ...entry, content } }
  }
  const end = async (stdin: string) => await startCli(['queue', 's1', 'edit', 'entry-1', '-'], { leader, stdin }).ended
  expect((await end('new text\n')).code).toBe(0)
  expect(asked.splice(0)).toEqual(['hold', 'new text'])
  expect((await end('')).code).toBe(2)
  expect(asked).toEqual(['hold', 'release'])
})
