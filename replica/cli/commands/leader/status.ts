import type { CommandBody } from '../../context.ts'
import { formatDuration } from '../../input/duration.ts'
import { renderFields } from '../../output/fields.ts'

/** `headwater status`. */
export const body: CommandBody = async context => {
  const connection = await context.connect({ spawn: 'never', reconnect: false })
  const status = await connection.status({ signal: context.signal })
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
