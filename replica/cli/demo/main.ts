import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { guide } from './guide.ts'
import { createScreen } from './screen.ts'

/** The guided demo of `npm start`: everything happens in a temporary directory that is gone afterwards. */
async function main(): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'headwater-demo-'))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }))
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => process.exit(signal === 'SIGINT' ? 130 : 143))
  Object.assign(process.env, ownPlaces(directory))
  const screen = createScreen(process.stdout, process.env)
  process.stdout.write('Headwater: one leader writes, every window is a replica.\n')
  try {
    await guide({ screen, root: join(directory, 'root'), env: process.env, stdin: process.stdin })
  } catch (error) {
    process.stderr.write(`\nThe demo did not get to its end: ${(error as Error).message}\n`)
    return 1
  }
  process.stdout.write(GO_ON)
  return 0
}

/** The demo's own places, so that it meets nobody else's leader and leaves nothing behind. */
function ownPlaces(directory: string): Record<string, string> {
  const names = {
    XDG_DATA_HOME: 'data',
    XDG_CONFIG_HOME: 'config',
    XDG_CACHE_HOME: 'cache',
    XDG_STATE_HOME: 'state',
    XDG_RUNTIME_DIR: 'run',
  }
  return Object.fromEntries(
    Object.entries(names).map(([name, folder]) => {
      const path = join(directory, folder)
      mkdirSync(path, { mode: 0o700 })
      return [name, path]
    }),
  )
}

const GO_ON = `
Go on with a root of your own (in this folder, headwater is: npx headwater):

   headwater run "Hello"                    a turn in a new session; a leader starts by itself
   headwater session list                   the sessions
   headwater watch ID                       follow one, in as many terminals as you like
   headwater run "Fix the tests" --backend opencode
                                            a real agent, once config.jsonc names it:
                                            {"backends": {"opencode": {"acp": ["opencode", "acp"]}}}
   headwater serve                          a leader that stays
   headwater --help
`

process.exitCode = await main()
process.exit()
