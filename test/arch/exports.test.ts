import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PROJECT } from '../support/source-files.ts'

const { exports: paths } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as {
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>
}

/** What each entry of the package promises at least. */
const PROMISED: Readonly<Record<string, readonly string[]>> = {
  'headwater/schema': ['PROTOCOL', 'LIMITS', 'ERRORS', 'EXIT_CODES', 'commands', 'SessionReader'],
  'headwater/leader': ['resolveRoot', 'tryAcquireRootOwner', 'tryAcquireRootReader', 'startLeader', 'openStore'],
  'headwater/replica': [
    'connectLeader',
    'openOffline',
    'ReplicaOperationError',
    'ReplicaSubscriptionError',
    'ReplicaProtocolError',
  ],
  'headwater/replica/react': [
    'LeaderProvider',
    'createReplicaStore',
    'useCatalog',
    'useCommand',
    'useCommands',
    'useFreshness',
    'useLeader',
    'useLink',
    'usePending',
    'useSession',
    'useSessionSlice',
    'useSessionView',
    'useTranscript',
  ],
}

test('every entry of the package has its built file and its types', () => {
  const targets = Object.values(paths).flatMap(target =>
    typeof target === 'string' ? [target] : Object.values(target),
  )
  expect(targets.filter(target => !existsSync(join(PROJECT, target)))).toEqual([])
})

test.each(Object.entries(PROMISED))('%s gives bare node what it promises', (specifier, names) => {
  const script = `console.log(JSON.stringify(Object.keys(await import('${specifier}'))))`
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: PROJECT,
    encoding: 'utf8',
  })
  const found = JSON.parse(printed) as readonly string[]
  expect(names.filter(name => !found.includes(name))).toEqual([])
})
