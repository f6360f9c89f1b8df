import type { LeaderConnection } from '../../../replica/client/types.ts'
import { waitFor } from '../wait-for.ts'
import type { Journal } from './journal.ts'
import type { Ending } from './table.ts'

/** Enough that more of an unwatched document is dead than alive: records written in turn never merge away. */
const EDITS = 200
/** More text than a live document holds. */
const STREAM_BYTES = 320_000

/**
 * Makes the leader pass a point that ordinary load seldom reaches, in a session nobody follows. Resolves to that session when all that it
 * takes has been given, or to null where nothing has to be done.
 */
export async function provoke(
  ending: Ending,
  connection: LeaderConnection,
  journal: Journal,
  round: number,
): Promise<string | null> {
  if (ending !== 'mid_compaction' && ending !== 'mid_seal' && ending !== 'mid_recovery') return null
  const sessionId = `provoked-${round}`
  await whenLive(connection)
  await connection.createSession({ sessionId, cwd: '/tmp', backend: 'scripted' })
  const text = ending === 'mid_seal' ? `/stream ${STREAM_BYTES}` : '/hold'
  const start = journal.give(connection, 'turn.start', { sessionId, turnId: `t-${round}`, content: { text } })
  // Whatever the other sessions do, there is something to recover.
  if (ending === 'mid_recovery') await waitFor(() => start.outcome.kind === 'acknowledged')
  if (ending === 'mid_compaction') editInTurn(connection, journal, sessionId)
  return sessionId
}

function editInTurn(connection: LeaderConnection, journal: Journal, sessionId: string): void {
  const entries = [`${sessionId}-a`, `${sessionId}-b`]
  const originHostEpoch = connection.hostEpoch
  for (const messageId of entries) {
    const message = { sessionId, messageId, originHostEpoch, content: { text: messageId } }
    journal.give(connection, 'turn.message.submit', { ...message, placement: 'next_turn' })
  }
  for (let i = 0; i < EDITS; i++) {
    for (const entryId of entries) {
      const operationId = `${entryId}-${i}`
      const edit = { sessionId, operationId, entryId, expectedEntryRevision: i + 1 }
      journal.give(connection, 'queue.edit', { ...edit, content: { text: operationId } })
    }
  }
}

async function whenLive(connection: LeaderConnection): Promise<void> {
  if (connection.freshness.state === 'live') return
  await new Promise<void>(resolve => {
    const off = connection.on('freshness', ({ state }) => {
      if (state !== 'live') return
      off()
      resolve()
    })
  })
}
