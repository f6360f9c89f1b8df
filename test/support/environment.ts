import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

/** The XDG variables that keep a leader and its replicas inside one directory. */
export type IsolatedEnvironment = Readonly<Record<string, string>>

/** Variables under which headwater touches nothing outside `directory`. Its folders exist afterwards, mode 0700. */
export function isolatedEnvironment(directory: string): IsolatedEnvironment {
  const folders = {
    XDG_DATA_HOME: 'data',
    XDG_CONFIG_HOME: 'config',
    XDG_CACHE_HOME: 'cache',
    XDG_STATE_HOME: 'state',
    XDG_RUNTIME_DIR: 'run',
  }
  const variables: Record<string, string> = {}
  for (const [name, folder] of Object.entries(folders)) {
    const path = join(directory, folder)
    mkdirSync(path, { recursive: true, mode: 0o700 })
    variables[name] = path
  }
  return variables
}

/** Puts variables into this process's environment and returns how to take them out again. Test files have a process each. */
export function useEnvironment(variables: Readonly<Record<string, string>>): () => void {
  const before = new Map(Object.keys(variables).map(name => [name, process.env[name]]))
  Object.assign(process.env, variables)
  return () => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
}
