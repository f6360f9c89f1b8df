import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { VERSION } from '../../schema/version.ts'
import { PROJECT, projectFiles } from '../support/source-files.ts'

interface LockEntry {
  readonly version?: string
  readonly resolved?: string
  readonly dev?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly engines?: { readonly node?: string }
}

const lock = JSON.parse(readFileSync(join(PROJECT, 'package-lock.json'), 'utf8')) as {
  readonly packages: Readonly<Record<string, LockEntry>>
}
const manifest = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as {
  readonly version: string
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

/** The oldest Node this package promises to run on. */
const OLDEST_NODE = [20, 19, 0] as const

test('there is exactly one copy of yjs, and none of its successor', () => {
  const names = Object.keys(lock.packages).filter(path => /(^|\/)node_modules\/(yjs|@y\/[^/]+)$/.test(path))
  expect(names).toEqual(['node_modules/yjs'])
  expect(installedCopies('yjs')).toEqual(['node_modules/yjs'])
  expect(existsSync(join(PROJECT, 'node_modules', '@y'))).toBe(false)
})

test('every production package runs on the oldest Node promised', () => {
  const refused = Object.entries(lock.packages)
    .filter(([path, entry]) => path !== '' && entry.dev !== true && entry.engines?.node !== undefined)
    .filter(([, entry]) => !admits(entry.engines?.node ?? '*', OLDEST_NODE))
    .map(([path, entry]) => `${path} ${entry.engines?.node}`)
  expect(refused).toEqual([])
})

test('ranges of engines are read right', () => {
  const admitted = [
    '>=18',
    '>= 14.0.0',
    '^20.17.0 || >=22.9.0',
    '^16 || ^18 || >=20',
    '*',
    '20 || 22',
    '20.x',
    '>=20.19 <23',
  ]
  const refused = ['>=22', '^22.12.0 || >=24', '>=20.20.0', '<20', '18 || 22', '^20.20.0']
  expect(admitted.filter(range => !admits(range, OLDEST_NODE))).toEqual([])
  expect(refused.filter(range => admits(range, OLDEST_NODE))).toEqual([])
})

test('versions are exact, and the one in the code is the one of the package', () => {
  const all = { ...manifest.dependencies, ...manifest.devDependencies }
  expect(Object.entries(all).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([])
  expect(VERSION).toBe(manifest.version)
})

test('the lock file holds no download addresses', () => {
  const addresses = Object.entries(lock.packages).filter(([, entry]) => entry.resolved !== undefined)
  expect(addresses).toEqual([])
})

test('the lock file is complete, so that a clean clone installs', () => {
  const missing = Object.entries(lock.packages).flatMap(([path, { dependencies, optionalDependencies }]) => {
    const names = Object.keys({ ...dependencies, ...optionalDependencies })
    return names.filter(name => !isLocked(name, path)).map(name => `${path} needs ${name}`)
  })
  expect(missing).toEqual([])
})

test('no tracked file holds a path of a machine or the address of a registry', () => {
  const home = ['root', 'home', 'Users', 'work', 'workspace'].join('|')
  const machine = new RegExp(`(?<![\\w.:/~$}>-])/(${home})/[\\w.-]+/|registry\\.npmjs`)
  const found = projectFiles()
    .filter(path => !/\.(png|ico|woff2|gz|bin)$/.test(path))
    .flatMap(path => {
      const lines = readFileSync(join(PROJECT, path), 'utf8').split('\n')
      return lines.flatMap((line, i) => (machine.test(line) ? [`${path}:${i + 1} ${line.trim().slice(0, 120)}`] : []))
    })
  expect(found).toEqual([])
})

/** Places under node_modules where a package is installed, nested ones too. */
function installedCopies(name: string, under = 'node_modules', depth = 0): readonly string[] {
  const folder = join(PROJECT, under)
  if (depth > 6 || !existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    if (!entry.isDirectory() || entry.name.startsWith('.')) return []
    const path = `${under}/${entry.name}`
    if (entry.name.startsWith('@')) return installedCopies(name, path, depth + 1)
    return [...(entry.name === name ? [path] : []), ...installedCopies(name, `${path}/node_modules`, depth + 1)]
  })
}

/** True if a package that `path` depends on is in the lock file, where Node would find it. */
function isLocked(name: string, path: string): boolean {
  for (let at = path; ; at = at.slice(0, Math.max(0, at.lastIndexOf('node_modules/')))) {
    const inside = at === '' || at.endsWith('/') ? at : `${at}/`
    if (lock.packages[`${inside}node_modules/${name}`] !== undefined) return true
    if (at === '') return false
  }
}

/** True if a range of versions, as `engines` fields write it, admits this one. Throws on what it cannot read. */
function admits(range: string, version: readonly [number, number, number]): boolean {
  return range.split('||').some(alternative => {
    const terms = alternative
      .trim()
      .replace(/([<>=^~])\s+/g, '$1')
      .split(/\s+/)
      .filter(Boolean)
    return terms.every(term => admitsTerm(term, version))
  })
}

function admitsTerm(term: string, version: readonly [number, number, number]): boolean {
  const read = /^(>=|<=|>|<|=|\^|~|)v?(\d+|[*x])(?:\.(\d+|[*x]))?(?:\.(\d+|[*x]))?$/.exec(term)
  if (read === null) throw new Error(`cannot read the range ${term}`)
  const [, operator = '', ...parts] = read
  const given = parts.filter(part => part !== undefined && /\d/.test(part)).map(Number)
  if (given.length === 0) return true
  const order = compare(version, [given[0] ?? 0, given[1] ?? 0, given[2] ?? 0])
  const isSame = (count: number): boolean => given.slice(0, count).every((part, i) => part === version[i])
  if (operator === '>=') return order >= 0
  if (operator === '<=') return order <= 0 || isSame(3)
  if (operator === '>') return order > 0 && !isSame(3)
  if (operator === '<') return order < 0
  if (operator === '^') return order >= 0 && isSame(1)
  if (operator === '~') return order >= 0 && isSame(2)
  return isSame(3)
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < 3; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
