import { posix } from 'node:path'
import { expect, test } from 'vitest'
import { sourceFiles } from '../support/source-files.ts'
import { findCycle, folderFaults, packageFaults } from './dependency-rules.ts'

const files = sourceFiles('schema', 'leader', 'replica')

test('every import leads to a file of the project or to a package', () => {
  const known = new Set(sourceFiles('schema', 'leader', 'replica', 'test').map(file => file.path))
  const lost = files.flatMap(file =>
    file.imports
      .filter(({ target }) => target !== null && !known.has(target) && !target.startsWith('dist/'))
      .map(({ specifier }) => `${file.path} → ${specifier}`),
  )
  expect(lost).toEqual([])
})

test('folders import only what stands below them', () => {
  expect(files.flatMap(folderFaults)).toEqual([])
})

test('packages are imported only where they belong', () => {
  expect(files.flatMap(packageFaults)).toEqual([])
})

test('only an index is a barrel, and no file imports that of its own folder', () => {
  const own = files.filter(({ path, imports }) => {
    const barrel = posix.join(posix.dirname(path), 'index.ts')
    return imports.some(({ target }) => target === barrel)
  })
  expect(own.map(({ path }) => path)).toEqual([])
  const barrels = files.filter(({ path, parsed }) => {
    const { body } = parsed.program as unknown as { body: readonly { type: string; source?: unknown }[] }
    const isReexport = ({ type, source }: { type: string; source?: unknown }): boolean =>
      /^Export/.test(type) && Boolean(source)
    return posix.basename(path) !== 'index.ts' && body.length > 0 && body.every(isReexport)
  })
  expect(barrels.map(({ path }) => path)).toEqual([])
})

test('no import cycle, type-only ones included', () => {
  expect(findCycle(files)).toEqual([])
})

test('the checks find what they look for', () => {
  const file = (path: string, ...imports: [string, string | null, 'static' | 'type' | 'dynamic'][]) => ({
    path,
    imports: imports.map(([specifier, target, kind]) => ({ specifier, target, kind })),
  })
  const up = file('schema/ids.ts', ['../leader/index.ts', 'leader/index.ts', 'type'])
  const across = file('replica/client/a.ts', ['../../leader/log/b.ts', 'leader/log/b.ts', 'static'])
  const eager = file('replica/cli/serve.ts', ['../../leader/index.ts', 'leader/index.ts', 'static'])
  const lazy = file('replica/cli/serve.ts', ['../../leader/index.ts', 'leader/index.ts', 'dynamic'])
  expect([up, across, eager, lazy].map(f => folderFaults(f).length)).toEqual([1, 1, 1, 0])
  const level = file('leader/session/lane.ts', ['level', null, 'static'])
  const yjs = file('leader/domain/decide.ts', ['yjs', null, 'type'])
  const node = file('replica/client/connection.ts', ['node:fs', null, 'static'])
  const injected = file('replica/client/node/socket.ts', ['node:fs', null, 'static'], ['ws', null, 'static'])
  expect([level, yjs, node, injected].map(f => packageFaults(f).length)).toEqual([1, 1, 1, 0])
  const a = file('schema/a.ts', ['./b.ts', 'schema/b.ts', 'type'])
  const b = file('schema/b.ts', ['./a.ts', 'schema/a.ts', 'static'])
  expect(findCycle([a, b])).toEqual(['schema/a.ts', 'schema/b.ts', 'schema/a.ts'])
})
