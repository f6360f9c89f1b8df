import { useMemo, useRef } from 'react'
import { useCatalog } from '../../react/index.ts'
import { type PaletteChoice, paletteEntries } from '../../view/palette.ts'
import { type Overlay, useApp } from '../app/app-context.ts'
import { useRouter } from '../keys/use-actions.ts'
import { Help } from './help.tsx'
import { Palette } from './palette.tsx'
import { Rename } from './rename.tsx'
import { Switcher } from './switcher.tsx'

/** What lies over the screen. */
export function Overlays({
  overlay,
  columns,
  rows,
}: {
  readonly overlay: NonNullable<Overlay>
  readonly columns: number
  readonly rows: number
}) {
  const app = useApp()
  const router = useRouter()
  const { rows: sessions } = useCatalog()
  // What lies below stays what it was while this is open.
  const offered = useRef(router.offered()).current
  const openedAt = useRef(Date.now()).current
  const close = () => app.show(null)
  const entries = useMemo(
    () =>
      paletteEntries({
        offered,
        table: router.table,
        sessions: sessions ?? [],
        themes: app.themes.others,
        now: openedAt,
      }),
    [offered, router, sessions, app.themes, openedAt],
  )
  const run = (choice: PaletteChoice) => {
    close()
    if (choice.kind === 'session') app.go({ name: 'session', sessionId: choice.sessionId })
    else if (choice.kind === 'action') app.runSoon(choice.action)
    else app.themes.choose(choice.theme)
  }
  switch (overlay.kind) {
    case 'palette':
      return (
        <Palette
          entries={entries}
          columns={columns}
          rows={rows}
          onRun={run}
          onClose={() => {
            close()
            overlay.onCancel?.()
          }}
        />
      )
    case 'help':
      return <Help offered={offered} table={router.table} columns={columns} rows={rows} onClose={close} />
    case 'switcher':
      return (
        <Switcher
          sessions={sessions ?? []}
          now={openedAt}
          columns={columns}
          rows={rows}
          onSwitch={sessionId => app.go({ name: 'session', sessionId })}
          onClose={close}
        />
      )
    case 'rename':
      return <Rename sessionId={overlay.sessionId} columns={columns} rows={rows} onClose={close} />
  }
}
