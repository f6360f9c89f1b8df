import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PROJECT } from '../support/source-files.ts'
import { testTempDir } from '../support/temp-dir.ts'

const MODULES = join(PROJECT, 'node_modules')

/** What the compiler says of a program that uses the published types as another project would. */
function compile(program: string): { readonly status: number | null; readonly said: string } {
  const folder = testTempDir('readme')
  writeFileSync(join(folder, 'program.tsx'), program)
  const dist = (entry: string): string[] => [join(PROJECT, 'dist', entry, 'index.d.ts')]
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: 'ES2023',
    module: 'NodeNext',
    jsx: 'react-jsx',
    skipLibCheck: true,
    types: ['node'],
    typeRoots: [join(MODULES, '@types')],
    paths: {
      'headwater/replica': dist('replica'),
      'headwater/replica/react': dist('replica/react'),
      react: [join(MODULES, '@types/react/index.d.ts')],
      'react/*': [join(MODULES, '@types/react/*.d.ts')],
    },
  }
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.tsx'] }))
  const { status, stdout } = spawnSync(process.execPath, [join(MODULES, 'typescript/bin/tsc'), '-p', folder], {
    encoding: 'utf8',
  })
  return { status, said: stdout }
}

test('experience 10.1 the program in the README fits the published types', () => {
  const [, program = ''] = /```tsx\n([\s\S]*?)```/.exec(readFileSync(join(PROJECT, 'README.md'), 'utf8')) ?? []
  expect(program).toContain('LeaderProvider')
  expect(compile(program)).toEqual({ status: 0, said: '' })
  expect(compile(program.replace("'submitMessage'", "'submit'")).said).toContain('TS2345')
})
