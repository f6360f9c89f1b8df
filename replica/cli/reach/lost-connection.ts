import { LIMITS } from '../../../schema/limits.ts'
import type { LeaderConnection } from '../../client/types.ts'
import { formatInstant } from '../output/fields.ts'
import type { Notices } from '../output/notices.ts'

/** A command that follows a session gives up after `followLostMs`, in words of its own; it has this much time to say so. */
const FOLLOWERS_FIRST_MS = 1_000

/**
 * Says on stderr when a connection is lost and when it is back. One that has not come back after a while is closed: what waits for an
 * answer then ends as `outcome_unknown`. `isPatient`: it is never closed.
 */
export function minded(
  connection: LeaderConnection,
  { notices, signal, isPatient }: { notices: Notices; signal: AbortSignal; isPatient: boolean },
): LeaderConnection {
  let isLost = false
  let timer: NodeJS.Timeout | undefined
  connection.on('freshness', ({ state, asOf }) => {
    // The command is over; that its own connection is closed now is no news.
    if (signal.aborted || isLost === (state !== 'live')) return
    isLost = !isLost
    clearTimeout(timer)
    if (!isLost) return notices.notice('connected again')
    const seen = asOf === null ? '' : `; what is shown is as of ${formatInstant(asOf)}`
    notices.notice(`the connection to the leader is lost, trying again${seen}`)
    if (isPatient) return
    timer = setTimeout(() => void connection.close(), LIMITS.followLostMs + FOLLOWERS_FIRST_MS)
  })
  signal.addEventListener('abort', () => clearTimeout(timer), { once: true })
  return connection
}
