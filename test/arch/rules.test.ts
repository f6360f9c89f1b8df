import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'oxc-parser'
import { expect, test } from 'vitest'
import { PROJECT, type SourceFile, type SyntaxNode, sourceFiles, walk } from '../support/source-files.ts'

const spec = readFileSync(join(PROJECT, 'schema', 'SPEC.md'), 'utf8')
const defined = [...spec.matchAll(/^- \*\*([A-Z]\d{0,2})\*\* /gm)].map(match => match[1] as string)
const titles = sourceFiles('test').flatMap(titlesOf)
const used = new Map<string, string>()
for (const title of titles) for (const id of idsOf(title)) used.set(id, title)

test('no rule id is defined twice', () => {
  expect(defined.filter((id, i) => defined.indexOf(id) !== i)).toEqual([])
  expect(defined.length).toBeGreaterThan(100)
})

test('every rule has a test whose title begins with its id', () => {
  expect(defined.filter(id => !used.has(id))).toEqual([])
})

test('every rule id in a title is a rule', () => {
  expect([...used].filter(([id]) => !defined.includes(id))).toEqual([])
})

test('ids are read from titles', () => {
  expect(idsOf('T5 T6 two starts')).toEqual(['T5', 'T6'])
  expect(idsOf('A2, V13 a hanging batch')).toEqual(['A2', 'V13'])
  expect(idsOf('F /ask asks')).toEqual(['F'])
  expect(idsOf('A leader starts')).toEqual([])
  const file = (text: string) => {
    return { path: 'x.ts', text, parsed: parseSync('x.ts', text), imports: [] } as SourceFile
  }
  const text = `test('Q1 a', f); test.each(t)('Q2 b', f); it(\`Q3 \${c}\`, f); test.skip('Q4 d', f); other('Q5 e')`
  expect(titlesOf(file(text))).toEqual(['Q1 a', 'Q2 b', 'Q3 '])
})

/** The rule ids a title begins with. */
function idsOf(title: string): readonly string[] {
  const head = /^((?:[A-Z]\d{1,2}|F)(?:[\s,:]+|$))+/.exec(title)?.[0] ?? ''
  return head.split(/[\s,:]+/).filter(Boolean)
}

/** The titles of a file's tests, as far as they are written out; of a template, what stands before its first hole. */
function titlesOf(file: SourceFile): readonly string[] {
  const found: string[] = []
  walk(file.parsed.program, node => {
    if (node.type !== 'CallExpression') return
    const call = node as unknown as { callee: SyntaxNode; arguments: readonly SyntaxNode[] }
    const callee = file.text.slice(call.callee.start, call.callee.end)
    if (!/^(test|it)\b/.test(callee) || /\.(skip|todo)$/.test(callee)) return
    const [first] = call.arguments
    if (first?.type === 'Literal') {
      const { value } = first as unknown as { value: unknown }
      if (typeof value === 'string') found.push(value)
    }
    if (first?.type === 'TemplateLiteral') {
      const { quasis } = first as unknown as { quasis: readonly { value: { cooked: string } }[] }
      found.push(quasis[0]?.value.cooked ?? '')
    }
  })
  return found
}
