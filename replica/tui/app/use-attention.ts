import { useEffect, useRef } from 'react'
import { useReadable } from '../../react/hooks/use-readable.ts'
import { titleOf } from '../../view/session-list.ts'
import type { TerminalControls } from '../terminal/controls.ts'
import { useApp } from './app-context.ts'
import { sessionOf } from './route-stack.ts'

/** Titles the terminal, and calls the person when something begins to wait for them while they look elsewhere. Source: experience 6.3, 7.3. */
export function useAttention(terminal: TerminalControls): void {
  const { store, options, route, isFocused } = useApp()
  const { rows } = useReadable(store.catalog)
  const here = rows?.find(({ sessionId }) => sessionId === sessionOf(route))
  const waiting = rows?.reduce((sum, { pendingCount }) => sum + pendingCount, 0) ?? 0
  const mark = waiting > 0 ? `(${waiting}) ` : here?.status === 'running' ? '● ' : ''
  const title = `${mark}${here === undefined ? 'headwater' : `${titleOf(here)} — headwater`}`
  useEffect(() => terminal.setTitle(title), [terminal, title])

  const before = useRef<ReadonlyMap<string, { readonly pending: number; readonly isRunning: boolean }> | null>(null)
  useEffect(() => {
    if (rows === null) return
    const known = before.current
    before.current = new Map(
      rows.map(row => [row.sessionId, { pending: row.pendingCount, isRunning: row.status === 'running' }]),
    )
    const wish = options.settings.notifications
    if (known === null || wish === 'never' || (wish === 'unfocused' && isFocused)) return
    for (const row of rows) {
      const was = known.get(row.sessionId)
      if (row.pendingCount > (was?.pending ?? 0)) terminal.notify(`${titleOf(row)}: waits for your answer`)
      else if (was?.isRunning === true && row.status === 'idle') terminal.notify(`${titleOf(row)}: the turn has ended`)
    }
  }, [rows, isFocused, options.settings.notifications, terminal])
}
