/** What a place depends on; each side of the product passes in what it knows of its process. Nothing here is read from elsewhere. */
export interface PlaceFacts {
  readonly env: Readonly<Record<string, string | undefined>>
  /** As `process.platform` says. */
  readonly platform: string
  /** The user's home and the system's temporary directory, absolute. */
  readonly home: string
  readonly tmp: string
  /** Absent where there are no user ids (Windows). */
  readonly uid: number | undefined
  /** The platform's habit for a program called `headwater`, as `env-paths` gives it without a suffix. */
  readonly habit: { readonly data: string; readonly config: string; readonly cache: string; readonly log: string }
}

/** Where everything of a user is; all absolute but `root`, which is as `$HEADWATER_ROOT` gives it. Source: interfaces 5. */
export interface Places {
  readonly root: string
  readonly data: string
  readonly config: string
  readonly configFile: string
  readonly cache: string
  readonly state: string
  readonly logs: string
  readonly runtime: string
  /**
   * Folders a registration may be in, best first: who started the leader may have had another environment than who looks for it.
   * A leader writes to the first that it can use, a client reads all.
   */
  readonly runtimeCandidates: readonly string[]
  /** Per-user folders for a socket whose path would be too long, best first; empty where sockets are no files. Source: R3. */
  readonly socketFallbacks: readonly string[]
}

const NAME = 'headwater'

/** The places that follow from the facts: XDG variables where set (absolute ones only), else the platform's habit. Source: interfaces 5. */
export function resolvePlaces(facts: PlaceFacts): Places {
  const { env, habit } = facts
  const isWindows = facts.platform === 'win32'
  const join = (...parts: readonly string[]): string => parts.join(isWindows ? '\\' : '/')
  const xdg = (name: string): string | undefined => {
    const value = env[name]
    return value !== undefined && isAbsolutePath(value, isWindows) ? join(trimEnd(value), NAME) : undefined
  }
  const orHabit = (variable: string, usual: string, atHome: readonly string[]): string =>
    xdg(variable) ?? (isAbsolutePath(usual, isWindows) ? usual : join(facts.home, ...atHome, NAME))

  const isLinuxLike = !isWindows && facts.platform !== 'darwin'
  const data = orHabit('XDG_DATA_HOME', habit.data, ['.local', 'share'])
  const config = orHabit('XDG_CONFIG_HOME', habit.config, ['.config'])
  const cache = orHabit('XDG_CACHE_HOME', habit.cache, ['.cache'])
  const logs = orHabit('XDG_STATE_HOME', habit.log, ['.local', 'state'])
  const state = xdg('XDG_STATE_HOME') ?? (isLinuxLike ? logs : join(data, 'state'))
  const runtime = xdg('XDG_RUNTIME_DIR') ?? state
  const perUser = facts.uid === undefined ? NAME : `${NAME}-${facts.uid}`
  const fallbacks = isWindows ? [] : [join(trimEnd(facts.tmp), perUser), join('/tmp', perUser)]
  return Object.freeze({
    root: env.HEADWATER_ROOT !== undefined && env.HEADWATER_ROOT !== '' ? env.HEADWATER_ROOT : join(data, 'root'),
    data,
    config,
    configFile: join(config, 'config.jsonc'),
    cache,
    state,
    logs,
    runtime,
    runtimeCandidates: Object.freeze([...new Set([runtime, state])]),
    socketFallbacks: Object.freeze([...new Set(fallbacks)].map(path => path.replace(/^\/\//, '/'))),
  })
}

/** The folder of a root inside a runtime folder: the first 16 hex digits of its id. Source: R8. */
export function rootFolder(rootId: string): string {
  return rootId.slice(0, 16)
}

/** The file that makes a directory a root. Source: R1. */
export const MARKER_FILE = 'headwater.json'

/** The registration in a root's folder. Source: R8. */
export const REGISTRATION_FILE = 'leader.json'

/** The leader's socket in a root's folder, unless its path would be too long. Source: R3. */
export const SOCKET_FILE = 'leader.sock'

function isAbsolutePath(path: string, isWindows: boolean): boolean {
  return isWindows ? /^(?:[A-Za-z]:[\\/]|\\\\)/.test(path) : path.startsWith('/')
}

function trimEnd(path: string): string {
  return path.length > 1 ? path.replace(/[\\/]+$/, '') : path
}
