import type { Result } from '../../../../schema/commands/index.ts'
import type { CommandBody, CommandContext } from '../../context.ts'
import { formatDuration } from '../../input/duration.ts'
import { renderFields } from '../../output/fields.ts'
import { findFrozenHost, isThereAnyway } from '../../reach/frozen-host.ts'

/** `headwater status`. */
export const body: CommandBody = async context => {
  const status = await readStatus(context)
  const faults = status.faults.map(fault => (fault.sessionId ? `${fault.code} (${fault.sessionId})` : fault.code))
  const fields: [string, string][] = [
    ['state', status.state],
    ['version', status.version],
    ['protocol', `${status.protocol.min}-${status.protocol.max}`],
    ['root id', status.rootId],
    ['epoch', status.hostEpoch],
    ['up for', formatDuration(status.uptimeMs)],
    ['clients', String(status.connections)],
    ['running turns', String(status.activeTurns)],
    ['faults', faults.length === 0 ? 'none' : faults.join(', ')],
  ]
  return { result: status, text: renderFields(context.out, fields) }
}

/** Of any leader that answers, also one that is not ready or of another version. Source: E2, M2. */
async function readStatus(context: CommandContext): Promise<Result<'host.status'>> {
  const host = await findFrozenHost(context)
  if (host !== undefined && host.registration.state !== 'ready') {
    const status = await host.ask('host.status', {})
    if (status !== undefined) return status
  }
  try {
    const connection = await context.connect({ spawn: 'never', reconnect: false })
    return await connection.status({ signal: context.signal })
  } catch (error) {
    const status = isThereAnyway(error) ? await host?.ask('host.status', {}) : undefined
    if (status === undefined) throw error
    return status
  }
}
