import { join } from 'node:path'
import { createReplicaStore } from '../react/replica-store.ts'
import { createKeyTable } from '../view/keymap/key-table.ts'
import { Announcements } from './app/announcements.ts'
import { App } from './app/app.tsx'
import { DraftFiles } from './composer/draft-file.ts'
import { DraftStore } from './composer/draft-store.ts'
import { HistoryFile } from './composer/history-file.ts'
import { KeyRouter } from './keys/key-router.ts'
import { openLinear } from './linear/linear.ts'
import type { TuiEnd, TuiOptions } from './options.ts'
import { followKeymap } from './settings/keymap-file.ts'
import { type HostEnd, runInk } from './terminal/host.tsx'
import type { Paint } from './text/paint.ts'

export type { TuiEnd, TuiOptions } from './options.ts'

/** Screens are told of changes at most so often. Unit: ms. */
const FRAME_MS = 33
/** What a shell makes of a program that a signal ended. */
const SIGNALS: Readonly<Record<string, number>> = { SIGHUP: 129, SIGINT: 130, SIGQUIT: 131, SIGTERM: 143 }

/** Opens the terminal replica and resolves when it was left; the terminal is as it was then. Source: experience 7. */
export async function openTui(options: TuiOptions): Promise<TuiEnd> {
  const clientInstanceId = crypto.randomUUID()
  const announcements = new Announcements()
  for (const problem of options.problems) announcements.add(problem)
  const store = createReplicaStore({
    connect: signal => options.connect({ signal, clientInstanceId }),
    openOffline: () => options.openOffline(),
    schedule: run => void setTimeout(run, FRAME_MS),
  })
  if (options.isLinear) return openLinear(options, store, clientInstanceId).finally(() => store.close())
  const drafts = new DraftStore(new DraftFiles(join(options.places.state, 'drafts'), clientInstanceId), text =>
    announcements.add(text),
  )
  const history = new HistoryFile(join(options.places.state, 'history'), options.address)
  const router = new KeyRouter(createKeyTable())
  const keymap = followKeymap(options.places.keymap, ({ overrides, problems }) => {
    router.table = createKeyTable(overrides)
    for (const problem of problems) announcements.add(problem)
  })
  const paint: Omit<Paint, 'theme'> = {
    depth: options.colour,
    hasLinks: options.env.TERM !== 'linux',
  }
  try {
    const end = await runInk<TuiEnd>({
      stdin: options.stdin,
      stdout: options.stdout,
      setsTitle: options.settings.setsTitle,
      hasMouse: options.settings.hasMouse,
      onInput: event => {
        if (event.kind === 'key') router.press(event.press)
        else if (event.kind === 'paste') router.paste(event.text)
        else router.run(event.delta < 0 ? 'move.page_up' : 'move.page_down')
      },
      draw: ({ size, isFocused, terminal, leave }) => (
        <App
          options={options}
          store={store}
          router={router}
          size={size}
          paint={paint}
          isFocused={isFocused}
          terminal={terminal}
          drafts={drafts}
          history={history}
          announcements={announcements}
          onLeave={leave}
        />
      ),
    })
    return ended(end)
  } finally {
    keymap.close()
    await drafts.flush().catch(() => {})
    await store.close()
  }
}

function ended(end: HostEnd<TuiEnd>): TuiEnd {
  return end.kind === 'left' ? end.value : { exitCode: SIGNALS[end.signal] ?? 1, farewell: [] }
}
