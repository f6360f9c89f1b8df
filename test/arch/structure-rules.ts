import { lineAt, type SourceFile, type SyntaxNode, walk } from '../support/source-files.ts'

interface NamedNode extends SyntaxNode {
  readonly name: string
}

/** Globals that would bring a clock, chance, a wait or the process into the pure domain. */
const IMPURE: ReadonlySet<string> = new Set([
  'Date',
  'performance',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'queueMicrotask',
  'process',
  'console',
  'crypto',
  'fetch',
  'globalThis',
  'require',
])

/** Uses of anything impure in a file of `leader/domain`, as `path:line what`. */
export function impurities(file: SourceFile): readonly string[] {
  const bound = boundNames(file)
  const found: string[] = []
  const add = (node: SyntaxNode, what: string): void =>
    void found.push(`${file.path}:${lineAt(file.text, node.start)} ${what}`)
  walk(file.parsed.program, (node, parent, key) => {
    if (node.type === 'AwaitExpression') add(node, 'await')
    if ('async' in node && node.async === true) add(node, 'async')
    if (node.type === 'MemberExpression' && /^Math\s*\.\s*random$/.test(file.text.slice(node.start, node.end))) {
      add(node, 'Math.random')
    }
    if (node.type !== 'Identifier') return
    const { name } = node as NamedNode
    if (IMPURE.has(name) && !bound.has(name) && !isPropertyName(parent, key)) add(node, name)
  })
  return found
}

/** True for an identifier that only names a member: `x.process`, `{ process: 1 }`, `process: string`. */
function isPropertyName(parent: SyntaxNode | null, key: string): boolean {
  if (parent === null) return false
  if (parent.type === 'MemberExpression')
    return key === 'property' && !(parent as unknown as { computed: boolean }).computed
  const named = ['Property', 'PropertyDefinition', 'MethodDefinition', 'TSPropertySignature', 'TSMethodSignature']
  return named.includes(parent.type) && key === 'key'
}

function boundNames(file: SourceFile): ReadonlySet<string> {
  const names = new Set<string>()
  const collect = (pattern: unknown): void => {
    walk(pattern, (node, parent, key) => {
      if (node.type === 'Identifier' && !isPropertyName(parent, key)) names.add((node as NamedNode).name)
    })
  }
  walk(file.parsed.program, node => {
    if (node.type === 'VariableDeclarator') collect((node as unknown as { id: unknown }).id)
    if ('params' in node && Array.isArray(node.params)) for (const param of node.params) collect(param)
  })
  return names
}

const FUNCTIONS: ReadonlySet<string> = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'])

/** Functions over a number of lines or of parameters, as `path:line what`. */
export function largeFunctions(file: SourceFile, maxLines: number, maxParameters: number): readonly string[] {
  const found: string[] = []
  walk(file.parsed.program, node => {
    if (!FUNCTIONS.has(node.type)) return
    const from = lineAt(file.text, node.start)
    const lines = lineAt(file.text, node.end) - from + 1
    const { params } = node as unknown as { params: readonly unknown[] }
    if (lines > maxLines) found.push(`${file.path}:${from} ${lines} lines`)
    if (params.length > maxParameters) found.push(`${file.path}:${from} ${params.length} parameters`)
  })
  return found
}

/** An exported name and where its declaration begins. */
interface ExportedName {
  readonly name: string
  readonly start: number
}

/**
 * Exported names without a docstring, as `path:line name`. A type inferred from a documented schema of the same name needs none of its
 * own; re-exports are documented where they come from.
 */
export function undocumented(file: SourceFile): readonly string[] {
  const exported = exportedNames(file)
  const documented = new Set(exported.filter(({ start }) => hasDocstring(file, start)).map(({ name }) => name))
  return exported
    .filter(({ name }) => !documented.has(name))
    .map(({ name, start }) => `${file.path}:${lineAt(file.text, start)} ${name}`)
}

function exportedNames(file: SourceFile): readonly ExportedName[] {
  const body = (file.parsed.program as unknown as { body: readonly SyntaxNode[] }).body
  const overloaded = new Set<string>()
  return body.flatMap(statement => {
    if (statement.type !== 'ExportNamedDeclaration' && statement.type !== 'ExportDefaultDeclaration') return []
    const { declaration } = statement as unknown as { declaration: SyntaxNode | null }
    return declaredNames(declaration).flatMap(name => {
      if (declaration?.type.endsWith('FunctionDeclaration') || declaration?.type === 'TSDeclareFunction') {
        if (overloaded.has(name)) return []
        overloaded.add(name)
      }
      return [{ name, start: statement.start }]
    })
  })
}

function declaredNames(declaration: SyntaxNode | null): readonly string[] {
  if (declaration === null) return []
  if (declaration.type === 'VariableDeclaration') {
    const { declarations } = declaration as unknown as { declarations: readonly { id: { name?: string } }[] }
    return declarations.flatMap(({ id }) => (id.name === undefined ? [] : [id.name]))
  }
  const { id } = declaration as unknown as { id?: { name?: string } | null }
  return id?.name === undefined ? [] : [id.name]
}

function hasDocstring(file: SourceFile, start: number): boolean {
  return file.parsed.comments.some(
    ({ type, value, end }) =>
      type === 'Block' && value.startsWith('*') && end <= start && /^\s*$/.test(file.text.slice(end, start)),
  )
}

/** Words that say that a thing has no single job: anywhere in a name, or as its last word. */
const NOWHERE = [
  'manager',
  'coordinator',
  'service',
  'helper',
  'helpers',
  'util',
  'utils',
  'handler',
  'impl',
  'common',
  'misc',
]
const NOT_LAST = ['base', 'data', 'info']

/** Names of files and of top-level declarations with a forbidden part, as `path name`. */
export function forbiddenNames(file: SourceFile): readonly string[] {
  const body = (file.parsed.program as unknown as { body: readonly SyntaxNode[] }).body
  const declared = body.flatMap(statement => {
    const inner = 'declaration' in statement ? (statement.declaration as SyntaxNode | null) : statement
    return declaredNames(inner)
  })
  const fileNames = file.path.replace(/\.[a-z]+$/, '').split('/')
  return [...fileNames, ...declared].filter(isForbidden).map(name => `${file.path} ${name}`)
}

/** True for a name with a forbidden part. */
export function isForbidden(name: string): boolean {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
  return words.some(word => NOWHERE.includes(word)) || NOT_LAST.includes(words.at(-1) ?? '')
}
