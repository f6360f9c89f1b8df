import type { SessionProjection } from '../../../schema/entities/projection.ts'
import { isTerminal } from '../../../schema/entities/turn.ts'
import { statusLine } from '../app/status-line.ts'
import { Lines } from '../parts/lines.tsx'
import { useNow } from '../parts/use-now.ts'
import { turnStart } from './turn-start.ts'

/** What the session does, moving on while a turn runs. Source: experience 7.1. */
export function StatusRow({
  projection,
  columns,
}: {
  readonly projection: SessionProjection
  readonly columns: number
}) {
  const isRunning = projection.rootTurn !== null && !isTerminal(projection.rootTurn.status)
  const now = useNow(isRunning)
  const line = statusLine(projection, { columns, now, startedAt: turnStart(projection) })
  return <Lines lines={[line]} columns={columns} rows={1} />
}
