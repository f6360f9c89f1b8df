import { useMemo } from 'react'
import type { CatalogRow } from '../../../schema/entities/projection.ts'
import { switcherEntries } from '../../view/palette.ts'
import { Picker } from './picker.tsx'

/** The way to another session: the most recent first, with what each of them does, and a mark where one waits. Source: experience 7.2. */
export function Switcher({
  sessions,
  now,
  columns,
  rows,
  onSwitch,
  onClose,
}: {
  readonly sessions: readonly CatalogRow[]
  /** The local clock, ms. */
  readonly now: number
  readonly columns: number
  readonly rows: number
  onSwitch(sessionId: string): void
  onClose(): void
}) {
  const entries = useMemo(() => switcherEntries(sessions, now), [sessions, now])
  return (
    <Picker
      title="session"
      entries={entries}
      columns={columns}
      rows={rows}
      onRun={choice => (choice.kind === 'session' ? onSwitch(choice.sessionId) : undefined)}
      onClose={onClose}
    />
  )
}
