import type { Result } from '../../../../schema/commands/index.ts'
import { PROTOCOL, VERSION } from '../../../../schema/version.ts'
import type { CommandContext } from '../../context.ts'
import { toFailure } from '../../failure.ts'
import { formatDuration } from '../../input/duration.ts'
import { counts } from '../../output/counts.ts'
import { findFrozenHost } from '../../reach/frozen-host.ts'
import { type Check, ok, warn } from './check.ts'
import { checkFaults } from './check-faults.ts'

/** What the leader of a root answers, if one runs. */
export interface LeaderChecks {
  readonly isServed: boolean
  readonly checks: readonly Check[]
}

/** Asks the leader that runs, of whatever version it is; the walk over its root only if it speaks our protocol. Source: M2, D2. */
export async function checkLeader(context: CommandContext): Promise<LeaderChecks> {
  const status = await (await findFrozenHost(context))?.ask('host.status', {})
  if (status === undefined)
    return { isServed: false, checks: [ok('leader', 'none runs; a command starts one when it needs it')] }
  const checks: Check[] = [leaderCheck(status)]
  const range = `${status.protocol.min}–${status.protocol.max}`
  if (status.protocol.max < PROTOCOL.min || status.protocol.min > PROTOCOL.max) {
    const text = `it is headwater ${status.version} and speaks protocol ${range}; this is ${VERSION}`
    checks.push(warn('version', text, 'headwater stop, then start it again with this version'))
    return { isServed: true, checks: [...checks, ...checkFaults(status.faults)] }
  }
  checks.push(ok('version', status.version))
  return { isServed: true, checks: [...checks, ...checkFaults([...status.faults, ...(await walk(context, status))])] }
}

function leaderCheck(status: Result<'host.status'>): Check {
  const { state, uptimeMs, connections, activeTurns } = status
  const text = `one runs: ${state}, up for ${formatDuration(uptimeMs)}, ${counts(connections, 'client')}, ${counts(activeTurns, 'running turn')}`
  return state === 'ready' ? ok('leader', text) : warn('leader', text)
}

/** What the walk finds beside what the leader told. */
async function walk(
  context: CommandContext,
  { faults, state }: Result<'host.status'>,
): Promise<Result<'root.verify'>['faults']> {
  if (state !== 'ready') return []
  try {
    const connection = await context.connect({ spawn: 'never', reconnect: false })
    const onProgress = ({ sessions }: Readonly<Record<string, unknown>>) =>
      context.notices.progress(`checking … sessions ${sessions}`)
    const found = await connection.request('root.verify', {}, { signal: context.signal, onProgress })
    const known = new Set(faults.map(fault => fault.sessionId))
    return found.faults.filter(fault => !known.has(fault.sessionId))
  } catch (error) {
    context.notices.verbose(`the leader did not check its root: ${toFailure(error).message}`)
    return []
  }
}
