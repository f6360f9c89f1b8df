import type { SourceFile } from '../support/source-files.ts'

type Imports = Pick<SourceFile, 'path' | 'imports'>

/** Layers from the outside in: a file may import from its own layer and from those its layer names. Longest prefix wins. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  'schema/': ['schema/'],
  'leader/domain/': ['schema/', 'leader/domain/'],
  'leader/log/': ['schema/', 'leader/domain/', 'leader/parts/'],
  'leader/projection/': ['schema/', 'leader/domain/', 'leader/parts/'],
  'leader/session/': ['schema/', 'leader/domain/', 'leader/parts/'],
  'leader/execution/': ['schema/', 'leader/domain/', 'leader/parts/'],
  'leader/transport/': ['schema/', 'leader/domain/', 'leader/parts/'],
  'leader/telemetry/': ['schema/', 'leader/domain/', 'leader/parts/'],
  'leader/': ['schema/', 'leader/'],
  'replica/client/': ['schema/', 'replica/client/'],
  'replica/cache/': ['schema/', 'replica/client/', 'replica/cache/'],
  'replica/react/': ['schema/', 'replica/client/', 'replica/cache/', 'replica/react/', 'replica/view/'],
  'replica/view/': ['schema/', 'replica/client/', 'replica/cache/', 'replica/view/'],
  'replica/': ['schema/', 'replica/'],
}

/** The folders between domain and composition: they may use each other, but nothing above. */
const LEADER_PARTS = [
  'leader/log/',
  'leader/projection/',
  'leader/session/',
  'leader/execution/',
  'leader/transport/',
  'leader/telemetry/',
] as const

/** Files above all parts of the leader; nothing below may import them. */
const LEADER_TOP = ['leader/compose.ts', 'leader/main.ts', 'leader/index.ts'] as const

/** What of the leader the command line may load, when it needs it. */
const LAZY_LEADER = ['leader/index.ts', 'leader/main.ts'] as const

/** Imports of a file that lead up or across. */
export function folderFaults(file: Imports): readonly string[] {
  const layer = longestPrefix(Object.keys(LAYERS), file.path)
  if (layer === undefined) return []
  const allowed = (LAYERS[layer] ?? []).flatMap(name => (name === 'leader/parts/' ? LEADER_PARTS : [name]))
  const isLeaderPart = LEADER_PARTS.some(part => file.path.startsWith(part)) || file.path.startsWith('leader/domain/')
  return file.imports.flatMap(({ target, kind }) => {
    if (target === null) return []
    const isTop = (LEADER_TOP as readonly string[]).includes(target)
    if (file.path.startsWith('replica/cli/') && (LAZY_LEADER as readonly string[]).includes(target)) {
      return kind === 'static' ? [`${file.path} → ${target}: load it lazily`] : []
    }
    if (isLeaderPart && isTop) return [`${file.path} → ${target}`]
    return allowed.some(prefix => target.startsWith(prefix)) ? [] : [`${file.path} → ${target}`]
  })
}

/** Where a package may be imported: by folder or exact file. A package without a row may be imported where its layer allows packages. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  yjs: ['schema/projection/', 'leader/projection/', 'replica/client/'],
  level: ['leader/log/'],
  'classic-level': ['leader/log/'],
  'abstract-level': ['leader/log/'],
  ws: ['leader/transport/', 'replica/client/'],
  'y-websocket': ['replica/client/'],
  'y-protocols': ['replica/client/', 'leader/transport/', 'leader/projection/'],
  '@agentclientprotocol/sdk': ['leader/execution/'],
  commander: ['replica/cli/'],
  ink: ['replica/tui/'],
  marked: ['replica/tui/'],
  react: ['replica/react/', 'replica/tui/'],
  idb: ['replica/cache/'],
  pino: ['leader/'],
  'prom-client': ['leader/'],
}

/** Layers that may import only these packages at all; `node:` stands for every built-in module. */
const ONLY: Readonly<Record<string, readonly string[]>> = {
  'schema/projection/': ['zod', 'yjs', 'lib0'],
  'schema/': ['zod', 'lib0'],
  'leader/domain/': [],
  'replica/client/node/': [
    'node:',
    'ws',
    'yjs',
    'lib0',
    'y-protocols',
    'y-websocket',
    'zod',
    'env-paths',
    'jsonc-parser',
  ],
  'replica/client/': ['yjs', 'lib0', 'y-protocols', 'y-websocket', 'zod'],
  'replica/react/': ['react', 'yjs'],
  'replica/view/': ['strip-ansi', 'fuzzysort'],
}

/** Imports of packages that do not belong where they are made. */
export function packageFaults(file: Imports): readonly string[] {
  const layer = longestPrefix(Object.keys(ONLY), file.path)
  return file.imports.flatMap(({ specifier, target }) => {
    if (target !== null) return []
    const name = packageName(specifier)
    const only = layer === undefined ? undefined : ONLY[layer]
    if (only !== undefined && !only.includes(name)) return [`${file.path} → ${specifier}`]
    const places = PACKAGES[name]
    return places === undefined || places.some(place => file.path.startsWith(place))
      ? []
      : [`${file.path} → ${specifier}`]
  })
}

function packageName(specifier: string): string {
  if (specifier.startsWith('node:')) return 'node:'
  const [first = '', second = ''] = specifier.split('/')
  return first.startsWith('@') ? `${first}/${second}` : first
}

function longestPrefix(prefixes: readonly string[], path: string): string | undefined {
  return prefixes.filter(prefix => path.startsWith(prefix)).sort((a, b) => b.length - a.length)[0]
}

/** The first import cycle found, as a path that ends where it begins; empty when there is none. Lazy imports make no cycle. */
export function findCycle(files: readonly Imports[]): readonly string[] {
  const edges = new Map(files.map(file => [file.path, targetsOf(file)]))
  const done = new Set<string>()
  const onPath: string[] = []
  const visit = (path: string): readonly string[] => {
    const at = onPath.indexOf(path)
    if (at !== -1) return [...onPath.slice(at), path]
    if (done.has(path)) return []
    onPath.push(path)
    for (const target of edges.get(path) ?? []) {
      const cycle = visit(target)
      if (cycle.length > 0) return cycle
    }
    onPath.pop()
    done.add(path)
    return []
  }
  for (const path of edges.keys()) {
    const cycle = visit(path)
    if (cycle.length > 0) return cycle
  }
  return []
}

function targetsOf(file: Imports): readonly string[] {
  return file.imports.flatMap(({ target, kind }) => (target === null || kind === 'dynamic' ? [] : [target]))
}
