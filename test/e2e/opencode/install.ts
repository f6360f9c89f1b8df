import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const VERSION = '1.18.33'
const INSTALL_MS = 600_000
const run = promisify(execFile)

/** An installed agent: its program, and an environment that keeps all its files in one folder and makes no calls to the outside. */
export interface InstalledAgent {
  readonly program: string
  readonly version: string
  readonly env: Readonly<Record<string, string>>
}

/**
 * Installs the agent into a folder, or takes the program that `OPENCODE_BIN` names. Its install script is not run: it only puts the
 * program of the platform's own package in the place of a stub, and that program can be called where it is.
 */
export async function installAgent(folder: string): Promise<InstalledAgent> {
  const program = process.env.OPENCODE_BIN ?? (await download(folder))
  const { stdout } = await run(program, ['--version'], { env: agentEnvironment(folder) })
  return { program, version: stdout.trim(), env: agentEnvironment(folder) }
}

/** Writes the project file by which the agent uses a model at `baseUrl` and asks before it edits. */
export function writeProject(cwd: string, baseUrl: string): void {
  mkdirSync(cwd, { recursive: true })
  const provider = {
    npm: '@ai-sdk/openai-compatible',
    name: 'Scripted',
    options: { baseURL: baseUrl, apiKey: 'none' },
    models: { scripted: { name: 'Scripted' } },
  }
  const project = {
    provider: { scripted: provider },
    model: 'scripted/scripted',
    small_model: 'scripted/scripted',
    permission: { edit: 'ask' },
    autoupdate: false,
    share: 'disabled',
  }
  writeFileSync(join(cwd, 'opencode.json'), JSON.stringify(project, null, 2))
}

async function download(folder: string): Promise<string> {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--no-save', `opencode-ai@${VERSION}`]
  await run('npm', args, { cwd: folder, timeout: INSTALL_MS })
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const base = `opencode-${platform}-${process.arch}`
  for (const name of [base, `${base}-baseline`, `${base}-musl`, `${base}-baseline-musl`]) {
    const program = join(folder, 'node_modules', name, 'bin', platform === 'windows' ? 'opencode.exe' : 'opencode')
    if (existsSync(program) && (await starts(program, folder))) return program
  }
  throw new Error(`no program of opencode-ai ${VERSION} runs on ${platform}-${process.arch}`)
}

async function starts(program: string, folder: string): Promise<boolean> {
  return run(program, ['--version'], { env: agentEnvironment(folder) }).then(
    () => true,
    () => false,
  )
}

function agentEnvironment(folder: string): Record<string, string> {
  const home = join(folder, 'home')
  const temporary = join(home, 'tmp')
  mkdirSync(temporary, { recursive: true })
  return {
    PATH: process.env.PATH ?? '',
    HOME: home,
    // It unpacks libraries there, and leaves them when it is killed.
    TMPDIR: temporary,
    XDG_DATA_HOME: join(home, 'data'),
    XDG_CONFIG_HOME: join(home, 'config'),
    XDG_CACHE_HOME: join(home, 'cache'),
    XDG_STATE_HOME: join(home, 'state'),
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  }
}
