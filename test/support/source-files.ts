import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ParseResult, parseSync } from 'oxc-parser'

/** The project's directory. */
export const PROJECT = join(dirname(fileURLToPath(import.meta.url)), '..', '..')

/** One import of a file: the specifier as written, the project file it leads to (or null for a package), and how it is made. */
export interface Import {
  readonly specifier: string
  readonly target: string | null
  readonly kind: 'static' | 'type' | 'dynamic'
}

/** A parsed source file; `path` is relative to the project, with forward slashes. */
export interface SourceFile {
  readonly path: string
  readonly text: string
  readonly parsed: ParseResult
  readonly imports: readonly Import[]
}

const NOT_OURS: ReadonlySet<string> = new Set(['node_modules', 'dist', 'coverage', '.bench'])
const CODE = /\.(ts|tsx|js|mjs|cjs)$/

/**
 * Files that are tracked, or new and not ignored, as paths relative to the project. Deleted ones are left out. Without a repository (an
 * unpacked archive) everything counts that is not installed or built.
 */
export function projectFiles(): readonly string[] {
  if (!existsSync(join(PROJECT, '.git'))) return unpackedFiles('')
  const list = (...args: string[]) =>
    execFileSync('git', ['ls-files', '-z', ...args], { cwd: PROJECT, encoding: 'utf8' })
      .split('\0')
      .filter(Boolean)
  const deleted = new Set(list('--deleted'))
  return [...new Set(list('--cached', '--others', '--exclude-standard'))].filter(path => !deleted.has(path)).sort()
}

function unpackedFiles(under: string): readonly string[] {
  return readdirSync(join(PROJECT, under), { withFileTypes: true }).flatMap(entry => {
    const path = posix.join(under, entry.name)
    if (NOT_OURS.has(entry.name)) return []
    return entry.isDirectory() ? unpackedFiles(path) : [path]
  })
}

/** The code files of these top-level folders, parsed. */
export function sourceFiles(...folders: readonly string[]): readonly SourceFile[] {
  return projectFiles()
    .filter(path => CODE.test(path) && folders.some(folder => path.startsWith(`${folder}/`)))
    .map(readSource)
}

function readSource(path: string): SourceFile {
  const text = readFileSync(join(PROJECT, path), 'utf8')
  const parsed = parseSync(path, text)
  const fault = parsed.errors[0]
  if (fault !== undefined) throw new Error(`${path} does not parse: ${fault.message}`)
  return { path, text, parsed, imports: readImports(path, text, parsed) }
}

function readImports(path: string, text: string, parsed: ParseResult): readonly Import[] {
  const found: Import[] = []
  const add = (specifier: string, kind: Import['kind']): void => {
    const target = specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : null
    found.push({ specifier, target, kind })
  }
  const { staticImports, staticExports, dynamicImports } = parsed.module
  for (const { moduleRequest, entries } of staticImports) {
    add(moduleRequest.value, entries.length > 0 && entries.every(entry => entry.isType) ? 'type' : 'static')
  }
  for (const { entries } of staticExports) {
    for (const entry of entries)
      if (entry.moduleRequest) add(entry.moduleRequest.value, entry.isType ? 'type' : 'static')
  }
  for (const { moduleRequest } of dynamicImports) {
    const literal = /^['"`]([^'"`$]+)['"`]$/.exec(text.slice(moduleRequest.start, moduleRequest.end))
    if (literal?.[1] !== undefined) add(literal[1], 'dynamic')
  }
  walk(parsed.program, node => {
    if (node.type !== 'TSImportType') return
    const { source } = node as unknown as { source: { value?: unknown } }
    if (typeof source?.value === 'string') add(source.value, 'type')
  })
  return found
}

/** A node of the syntax tree, as far as the checks look. */
export interface SyntaxNode {
  readonly type: string
  readonly start: number
  readonly end: number
}

/** Visits every node, parents first. `visit` gets the node, its parent and the key under which the parent holds it. */
export function walk(
  root: unknown,
  visit: (node: SyntaxNode, parent: SyntaxNode | null, key: string) => void,
  parent: SyntaxNode | null = null,
  key = '',
): void {
  if (Array.isArray(root)) {
    for (const member of root) walk(member, visit, parent, key)
    return
  }
  if (root === null || typeof root !== 'object' || typeof (root as SyntaxNode).type !== 'string') return
  const node = root as SyntaxNode
  visit(node, parent, key)
  for (const [name, value] of Object.entries(node)) {
    if (value !== null && typeof value === 'object') walk(value, visit, node, name)
  }
}

/** The line, from 1, on which a position of a text stands. */
export function lineAt(text: string, position: number): number {
  let line = 1
  for (let i = text.indexOf('\n'); i !== -1 && i < position; i = text.indexOf('\n', i + 1)) line++
  return line
}
