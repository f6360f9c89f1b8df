import { createHash } from 'node:crypto'
import process from 'node:process'
import { Box, Text } from 'ink'
import { useReducer } from 'react'
import { type App, AppProvider } from '../../../replica/tui/app/app-context.ts'
import { Composer } from '../../../replica/tui/composer/composer.tsx'
import { DraftFiles } from '../../../replica/tui/composer/draft-file.ts'
import { DraftStore } from '../../../replica/tui/composer/draft-store.ts'
import { HistoryFile } from '../../../replica/tui/composer/history-file.ts'
import { KeyRouter } from '../../../replica/tui/keys/key-router.ts'
import { RouterProvider } from '../../../replica/tui/keys/use-actions.ts'
import type { TuiOptions } from '../../../replica/tui/options.ts'
import { type HostView, runInk } from '../../../replica/tui/terminal/host.tsx'
import { TERMINAL_THEME } from '../../../replica/tui/text/theme.ts'
import { createKeyTable } from '../../../replica/view/keymap/key-table.ts'

/** A composer alone on a terminal: `composer-program <folder> <client>`. Shows what it sent and told; everything sent is accepted. */
const [folder = '', client = ''] = process.argv.slice(2)
const drafts = new DraftStore(new DraftFiles(`${folder}/drafts`, client))
const history = new HistoryFile(`${folder}/history`, 'root')
const router = new KeyRouter(createKeyTable())
const log: string[] = []
const options = { env: process.env, settings: { enterWhileRunning: 'follow_up' } } as Partial<TuiOptions> as TuiOptions

function Page({ size, terminal, leave }: HostView<number>) {
  const [, again] = useReducer((count: number) => count + 1, 0)
  const say = (line: string): void => {
    log.push(line)
    again()
  }
  const app: Partial<App> = {
    options,
    paint: { theme: TERMINAL_THEME, depth: '16', hasLinks: false },
    tell: say,
    lend: use => terminal.lend(use),
    leave: () => leave(0),
  }
  return (
    <AppProvider value={app as App}>
      <RouterProvider value={router}>
        <Box flexDirection="column" width={size.columns} height={size.rows}>
          <Box flexGrow={1} overflow="hidden">
            <Text wrap="truncate">{log.slice(-8).join('\n')}</Text>
          </Box>
          <Composer
            sessionId="s"
            drafts={drafts}
            history={history}
            columns={size.columns}
            maxRows={8}
            isFocused={true}
            isRunning={false}
            canSend={true}
            onSend={async (text, mode) => {
              say(`${mode} ${text.length} ${createHash('sha256').update(text).digest('hex').slice(0, 16)}`)
              return true
            }}
            onRecall={() => false}
          />
        </Box>
      </RouterProvider>
    </AppProvider>
  )
}

await runInk<number>({
  stdin: process.stdin,
  stdout: process.stdout,
  setsTitle: false,
  hasMouse: false,
  onInput: event => {
    if (event.kind === 'paste') router.paste(event.text)
    else if (event.kind === 'key') router.press(event.press)
  },
  draw: view => <Page {...view} />,
})
await drafts.flush()
