import { posix } from 'node:path'
import { parseSync } from 'oxc-parser'
import { expect, test } from 'vitest'
import { type SourceFile, sourceFiles } from '../support/source-files.ts'
import { forbiddenNames, impurities, isForbidden, largeFunctions, undocumented } from './structure-rules.ts'

const FILE_LINES = 500
const FOLDER_FILES = 12
const FUNCTION_LINES = 70
const PARAMETERS = 4

const product = sourceFiles('schema', 'leader', 'replica')

test('no file is longer than 500 lines', () => {
  const long = sourceFiles('schema', 'leader', 'replica', 'test')
    .map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }))
    .filter(({ lines }) => lines > FILE_LINES)
  expect(long).toEqual([])
})

test('no folder has more than 12 files', () => {
  const counts = new Map<string, number>()
  for (const { path } of product) counts.set(posix.dirname(path), (counts.get(posix.dirname(path)) ?? 0) + 1)
  expect([...counts].filter(([, count]) => count > FOLDER_FILES)).toEqual([])
})

test('no function is longer than 70 lines or has more than 4 parameters', () => {
  expect(product.flatMap(file => largeFunctions(file, FUNCTION_LINES, PARAMETERS))).toEqual([])
})

test('the domain is pure: no waiting, clock, chance or process in it', () => {
  expect(product.filter(({ path }) => path.startsWith('leader/domain/')).flatMap(impurities)).toEqual([])
})

test('every exported name has a docstring', () => {
  expect(product.flatMap(undocumented)).toEqual([])
})

test('no name has a part that says nothing', () => {
  expect(product.flatMap(forbiddenNames)).toEqual([])
})

test('the checks find what they look for', () => {
  const file = (text: string): SourceFile => {
    return { path: 'leader/domain/x.ts', text, parsed: parseSync('x.ts', text), imports: [] }
  }
  expect(impurities(file('const a = Date.now(); const b = x.process; const c = { process: 1 }'))).toHaveLength(1)
  expect(impurities(file('function f(process: number) { return process }'))).toEqual([])
  expect(impurities(file('// Date\nconst s = "await Date"; export const r = Math.random()'))).toHaveLength(1)
  expect(impurities(file('async function f() { await 1 }'))).toHaveLength(2)
  expect(largeFunctions(file(`const f = () => {\n${'\n'.repeat(5)}}`), 5, 4)).toHaveLength(1)
  expect(largeFunctions(file('function f(a, b, c, d, e) {}'), 5, 4)).toHaveLength(1)
  expect(undocumented(file('/** Says. */\nexport const A = 1\nexport type A = number\nexport const B = 2'))).toEqual([
    'leader/domain/x.ts:4 B',
  ])
  expect(['LaneManager', 'session-utils', 'SessionInfo', 'HTTPHandler'].every(isForbidden)).toBe(true)
  expect(['DATA_FORMAT', 'Lane', 'informs', 'baseRevision'].some(isForbidden)).toBe(false)
})
