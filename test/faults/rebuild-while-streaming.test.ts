import { expect, test } from 'vitest'
import type { LeaderConnection } from '../../replica/client/types.ts'
import { readFacts } from '../support/crash/ledger-facts.ts'
import { readLedger } from '../support/live/ledger.ts'
import { testRoot } from '../support/live/test-root.ts'
import { waitFor } from '../support/wait-for.ts'

const SESSIONS = 8
const ROUNDS = 40
const EDITS = 10
const TEXT = 'abcdefghi'.repeat(400)

/** A session nobody follows: it streams, and two entries that are edited in turn make its document mostly garbage, again and again. */
async function churn(of: LeaderConnection, sessionId: string): Promise<void> {
  const entries = ['a', 'b']
  for (const messageId of entries) {
    const message = { sessionId, messageId, originHostEpoch: of.hostEpoch, content: { text: messageId } }
    await of.submitMessage({ ...message, placement: 'next_turn' })
  }
  for (let round = 0; round < ROUNDS; round++) {
    const edits = Array.from({ length: EDITS }, (_, i) => round * EDITS + i + 1)
    await Promise.all(
      edits.flatMap(expectedEntryRevision =>
        entries.map(entryId => {
          const operationId = `${entryId}-${expectedEntryRevision}`
          const edit = { sessionId, operationId, entryId, expectedEntryRevision, content: { text: operationId } }
          return of.request('queue.edit', edit)
        }),
      ),
    )
  }
}

test('V7 L4 text streams on, whole, while documents that nobody follows are built anew again and again', async () => {
  const root = testRoot()
  const leader = await root.start()
  const a = await root.connect()
  const sessionIds = Array.from({ length: SESSIONS }, (_, i) => `s${i}`)
  for (const sessionId of sessionIds) {
    await a.createSession({ sessionId, cwd: '/tmp', backend: 'scripted' })
    await a.startTurn({ sessionId, turnId: 't', content: { text: TEXT } })
  }
  const ended = leader.exited.then(() => {
    throw new Error(`the leader ended: ${leader.stderr()}`)
  })
  await Promise.race([Promise.all(sessionIds.map(sessionId => churn(a, sessionId))), ended])
  for (const sessionId of sessionIds) {
    const { runId } = await a.queryTurn({ sessionId, turnId: 't' })
    await a.stopTurn({ sessionId, turnId: 't', runId })
    const { turns } = readFacts(await readLedger(a, sessionId))
    const reply = [...(turns.get('t')?.texts.values() ?? [])].join('')
    expect(reply.length).toBeGreaterThan(9)
    expect(reply).toBe(TEXT.slice(0, reply.length))
  }
  expect((await a.request('root.verify', {})).faults).toEqual([])
  await waitFor(() => a.freshness.state === 'live')
})
