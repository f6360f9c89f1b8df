import { appendFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, type TestContext, test } from 'vitest'
import type { LeaderConnection } from '../../replica/client/types.ts'
import { isTerminal } from '../../schema/entities/turn.ts'
import { checkLedger, checkReceipts, checkSeen, checkTranscript, withoutPresence } from '../support/crash/checks.ts'
import { type Issued, Journal } from '../support/crash/journal.ts'
import { readFacts } from '../support/crash/ledger-facts.ts'
import { SeenSession } from '../support/crash/seen-session.ts'
import { readLedger } from '../support/live/ledger.ts'
import { rootAt, type TestRoot } from '../support/live/test-root.ts'
import { mountSmallDisk } from '../support/small-disk.ts'
import { testTempDir } from '../support/temp-dir.ts'
import { waitFor } from '../support/wait-for.ts'

const DISK_MIB = 48
const RESUME_MS = 10_000
const SESSIONS = ['runs', 'waits', 'idle'] as const
/** What a leader may say while the disk is full; the very first may not be known. Source: E8. */
const FULL = /^(storage_full|outcome_unknown)$/

function smallRoot(context: TestContext): { readonly root: TestRoot; readonly filler: string } {
  const disk = mountSmallDisk(DISK_MIB)
  if ('reason' in disk) return context.skip(disk.reason)
  return { root: rootAt(join(disk.path, 'root'), testTempDir('full')), filler: join(disk.path, 'filler') }
}

/** Takes all the room there is. */
function fillDisk(path: string): void {
  for (const bytes of [1024 * 1024, 4096, 1]) {
    try {
      for (;;) appendFileSync(path, Buffer.alloc(bytes, 1))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    }
  }
}

/** Three sessions: one streams, one waits for an answer with a message behind it, one is idle. */
async function openSessions(connection: LeaderConnection, journal: Journal): Promise<Map<string, SeenSession>> {
  const seen = new Map<string, SeenSession>()
  for (const sessionId of SESSIONS) {
    await connection.createSession({ sessionId, cwd: '/tmp', backend: 'scripted' })
    seen.set(sessionId, new SeenSession(await connection.openSessionSubscription({ sessionId })))
  }
  const long = { text: '0123456789'.repeat(400) }
  journal.give(connection, 'turn.start', { sessionId: 'runs', turnId: 't', content: long })
  journal.give(connection, 'turn.start', { sessionId: 'waits', turnId: 't', content: { text: '/ask' } })
  journal.give(connection, 'turn.message.submit', {
    sessionId: 'waits',
    messageId: 'behind',
    originHostEpoch: connection.hostEpoch,
    content: { text: 'behind' },
    placement: 'next_turn',
  })
  await journal.whenSettled()
  await waitFor(() => seen.get('waits')?.current.interactions.pending.length === 1)
  await waitFor(() => (seen.get('runs')?.texts.size ?? 0) > 0)
  return seen
}

/** Commands of every kind that would have to be stored; each under its own identity. */
function giveEverywhere(connection: LeaderConnection, journal: Journal, name: string): readonly Issued[] {
  return SESSIONS.flatMap(sessionId => [
    journal.give(connection, 'session.update', {
      sessionId,
      operationId: `title-${name}`,
      expectedRevision: 1,
      patch: { title: name },
    }),
    journal.give(connection, 'turn.message.submit', {
      sessionId,
      messageId: `m-${name}`,
      originHostEpoch: connection.hostEpoch,
      content: { text: `m-${name}` },
      placement: 'next_turn',
    }),
  ])
}

async function expectReadable(root: TestRoot, seen: ReadonlyMap<string, SeenSession>): Promise<void> {
  const fresh = await root.connect('reader')
  for (const [sessionId, { current }] of seen) {
    const { snapshot } = await fresh.openSessionSubscription({ sessionId })
    expect(withoutPresence(snapshot)).toEqual(withoutPresence(current))
    expect((await fresh.request('session.get', { sessionId })).session).toEqual(current.session)
    const records = await readLedger(fresh, sessionId)
    expect(records.at(-1)?.revision).toBe(current.revision)
    await checkTranscript(fresh, current)
  }
  expect((await fresh.request('interaction.list', {})).interactions.length).toBe(1)
  await fresh.close()
}

test('E8 A2 A5 a leader whose disk fills up mid-turn goes on being read, refuses to write, and resumes by itself', {
  timeout: 60_000,
}, async context => {
  const { root, filler } = smallRoot(context)
  const leader = await root.start()
  const a = await root.connect()
  const journal = new Journal()
  const seen = await openSessions(a, journal)
  fillDisk(filler)
  await waitFor(async () => (await a.status()).faults.some(({ code }) => code === 'storage_full'), {
    deadlineMs: 20_000,
    what: 'the leader says that its disk is full',
  })

  const refused = [...giveEverywhere(a, journal, 'full-1'), ...giveEverywhere(a, journal, 'full-2')]
  await journal.whenSettled()
  const codes = refused.map(({ outcome }) => (outcome.kind === 'refused' ? outcome.code : outcome.kind))
  for (const code of codes) expect(code).toMatch(FULL)
  expect(new Set(codes.slice(SESSIONS.length * 2))).toEqual(new Set(['storage_full']))
  await expectReadable(root, seen)

  rmSync(filler)
  const freedAt = performance.now()
  await waitFor(async () => (await a.status()).faults.length === 0, { deadlineMs: RESUME_MS })
  const given = giveEverywhere(a, journal, 'after')
  await journal.whenSettled()
  expect(performance.now() - freedAt).toBeLessThan(RESUME_MS + 1_000)
  // What nobody knew for certain is settled under its identity; what was refused left nothing, and is taken now.
  for (const issued of refused.filter((_, i) => codes[i] === 'outcome_unknown')) journal.again(a, issued)
  await journal.whenSettled()
  for (const sessionId of SESSIONS) await checkReceipts(a, journal.of(sessionId))
  for (const issued of refused) if (issued.outcome.kind === 'refused') journal.again(a, issued)
  await journal.whenSettled()
  for (const { operation, outcome } of [...given, ...refused]) {
    expect({ operation, kind: outcome.kind }).toEqual({ operation, kind: 'acknowledged' })
  }
  await expectWhole(a, journal, seen)
  await leader.kill()
  await root.start()
  a.retryNow()
  await waitFor(() => [...seen.values()].every(({ subscription }) => subscription.freshness.state === 'live'))
  await expectWhole(a, journal, seen)
})

/** Everything acknowledged is there, once; what was refused is not; the interrupted turn came to a true end. */
async function expectWhole(
  connection: LeaderConnection,
  journal: Journal,
  seen: ReadonlyMap<string, SeenSession>,
): Promise<void> {
  for (const [sessionId, session] of seen) {
    const issued = journal.of(sessionId)
    await checkReceipts(connection, issued)
    await waitFor(async () => {
      const facts = readFacts(await readLedger(connection, sessionId))
      expect(facts.revision).toBe(session.current.revision)
      checkLedger(facts, session.current, issued)
      checkSeen(session, facts)
      return true
    })
  }
  const { turns } = readFacts(await readLedger(connection, 'runs'))
  const turn = await connection.queryTurn({ sessionId: 'runs', turnId: 't' })
  if (isTerminal(turn.status)) expect(turns.get('t')?.terminals.length).toBe(1)
  expect((await connection.request('root.verify', {})).faults).toEqual([])
}
