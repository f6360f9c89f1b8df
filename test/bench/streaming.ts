import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { LeaderConnection } from '../../replica/index.ts'
import { waitFor } from '../support/wait-for.ts'
import { type Bench, directoryBytes, inDirectory, storedBytes } from './bench.ts'
import { followDocument } from './parts/document-sockets.ts'
import { createSessions, startProduct } from './parts/product.ts'

/** Sessions that stream at once and for how long: ten minutes of text in half a minute. */
const SESSIONS = 20
const SECONDS = 30
/** The scripted backend streams deltas of 9 characters every 45 ms. */
const CHARS_PER_SECOND = 200

/** Ten minutes of streamed text, twenty sessions at once: bytes sent to the disk, kept on it and kept in the document per byte of text. */
export const streaming: Bench = {
  name: 'streaming',
  run: ({ report, scale }) =>
    inDirectory(async directory => {
      const leader = await startProduct(directory)
      const connection = await leader.connect()
      const sessions = await createSessions(connection, SESSIONS)
      const text = 'every word of it '.repeat(10_000).slice(0, Math.max(600, SECONDS * CHARS_PER_SECOND * scale))
      const textBytes = text.length * SESSIONS
      const database = join(leader.root, 'database')
      const before = { stored: storedBytes(leader.process.pid), kept: directoryBytes(database) }
      const from = performance.now()
      await Promise.all(sessions.map(sessionId => stream(connection, sessionId, text)))
      const minutes = ((performance.now() - from) / 60_000) * SESSIONS
      const stored = storedBytes(leader.process.pid) - before.stored
      const { socket, syncBytes } = await followDocument(leader.process.line.socketPath, sessions[0] as string)
      socket.terminate()
      await connection.close()
      await leader.close()
      // opening sorts the database's log into tables, which drops what was replaced
      await (await startProduct(directory)).close()
      const kept = directoryBytes(database) - before.kept
      report.add({ what: 'streamed text', value: textBytes, unit: 'bytes' })
      report.add({ what: 'session minutes it took', value: minutes, unit: 'factor' })
      report.add({ what: 'streaming, sent to the disk', value: stored, unit: 'bytes', against: 'streamed text' })
      report.add({ what: 'streaming, kept on disk', value: kept, unit: 'bytes', against: 'streamed text' })
      report.add({ what: 'one such text', value: text.length, unit: 'bytes' })
      report.add({ what: 'its session as first synced', value: syncBytes, unit: 'bytes', against: 'one such text' })
    }),
}

async function stream(connection: LeaderConnection, sessionId: string, text: string): Promise<void> {
  const turnId = randomUUID()
  await connection.startTurn({ sessionId, turnId, content: { text } })
  const isOver = async (): Promise<boolean> => {
    const { status } = await connection.queryTurn({ sessionId, turnId })
    if (status === 'failed' || status === 'cancelled') throw new Error(`the turn ended ${status}`)
    return status === 'completed'
  }
  await waitFor(isOver, { what: 'the end of a streaming turn', deadlineMs: 300_000, everyMs: 250 })
}
