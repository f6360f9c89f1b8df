import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createNotices } from '../../replica/cli/output/notices.ts'
import { minded } from '../../replica/cli/reach/lost-connection.ts'
import type { LeaderConnection } from '../../replica/client/types.ts'
import type { Freshness } from '../../schema/entities/projection.ts'
import { LIMITS } from '../../schema/limits.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A connection whose freshness the test sets, and what the command line does about it. */
function connected({ isPatient }: { readonly isPatient: boolean }) {
  let tell: (freshness: Freshness) => void = () => {}
  let isClosed = false
  const connection = {
    on: (_event: 'freshness', listener: typeof tell) => {
      tell = listener
      return () => {}
    },
    close: async () => {
      isClosed = true
      tell({ state: 'offline', asOf: null })
    },
  } as unknown as LeaderConnection
  const said: string[] = []
  const stderr = { write: (text: string) => said.push(text), on: () => {} }
  const notices = createNotices(
    stderr as never,
    { isTerminal: false, takeMidLine: () => false },
    { quiet: false, verbose: false, hasColour: false },
  )
  const over = new AbortController()
  minded(connection, { notices, signal: over.signal, isPatient })
  return { tell: (freshness: Freshness) => tell(freshness), said, isClosed: () => isClosed, over }
}

const LOST: Freshness = { state: 'offline', asOf: null }
const LIVE: Freshness = { state: 'live', asOf: null }
const AFTER_LIMIT_MS = LIMITS.followLostMs + 2_000

test('V11 a command whose connection is lost says so, and ends when it does not come back', () => {
  const { tell, said, isClosed } = connected({ isPatient: false })
  tell(LOST)
  expect(said).toEqual(['the connection to the leader is lost, trying again\n'])
  vi.advanceTimersByTime(LIMITS.followLostMs)
  expect(isClosed()).toBe(false)
  vi.advanceTimersByTime(2_000)
  expect(isClosed()).toBe(true)
  expect(said).toHaveLength(1)
})

test('V11 a connection that came back is kept, and each loss is counted for itself', () => {
  const { tell, said, isClosed } = connected({ isPatient: false })
  for (let i = 0; i < 3; i++) {
    tell(LOST)
    vi.advanceTimersByTime(LIMITS.followLostMs - 1)
    tell({ state: 'syncing', asOf: null })
    tell(LIVE)
  }
  vi.advanceTimersByTime(AFTER_LIMIT_MS)
  expect(isClosed()).toBe(false)
  expect(said.filter(text => text === 'connected again\n')).toHaveLength(3)
})

test('V11 what follows for as long as it is wanted is never ended, and nothing is said once a command is over', () => {
  const patient = connected({ isPatient: true })
  patient.tell(LOST)
  vi.advanceTimersByTime(10 * AFTER_LIMIT_MS)
  expect(patient.isClosed()).toBe(false)

  const ended = connected({ isPatient: false })
  ended.tell(LOST)
  ended.over.abort()
  ended.tell(LIVE)
  vi.advanceTimersByTime(AFTER_LIMIT_MS)
  expect({ isClosed: ended.isClosed(), said: ended.said.length }).toEqual({ isClosed: false, said: 1 })
})
