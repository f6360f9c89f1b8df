import { parseArgs } from 'node:util'
import { makeTempDir, removeTempDir } from '../support/temporary.ts'
import type { Bench } from './bench.ts'
import { Report } from './report.ts'

/** `npm run bench [-- --quick] [-- NAME…]`: measures and prints one table. Figures are never asserted. */
const BENCHES: Readonly<Record<string, () => Promise<Bench>>> = {
  floors: async () => (await import('./floors.ts')).floors,
  store: async () => (await import('./store.ts')).store,
  commands: async () => (await import('./commands.ts')).commands,
  'fan-out': async () => (await import('./fan-out.ts')).fanOut,
  attach: async () => (await import('./attach.ts')).attach,
  restart: async () => (await import('./restart.ts')).restart,
  streaming: async () => (await import('./streaming.ts')).streaming,
  verify: async () => (await import('./verify.ts')).verify,
  terminal: async () => (await import('./terminal.ts')).terminal,
  'start-up': async () => (await import('./start-up.ts')).startUp,
}
const QUICK_SCALE = 0.1

const { values, positionals } = parseArgs({ options: { quick: { type: 'boolean' } }, allowPositionals: true })
const unknown = positionals.filter(name => !Object.hasOwn(BENCHES, name))
if (unknown.length > 0) {
  process.stderr.write(`no such bench: ${unknown.join(', ')}; there are ${Object.keys(BENCHES).join(', ')}\n`)
  process.exit(2)
}

const report = new Report(line => process.stderr.write(`  ${line}\n`))
for (const bench of await chosen(positionals)) {
  process.stderr.write(`${bench.name}\n`)
  const directories: string[] = []
  const directory = (): string => {
    const path = makeTempDir('b')
    directories.push(path)
    return path
  }
  try {
    await bench.run({ report, scale: values.quick === true ? QUICK_SCALE : 1, directory })
  } finally {
    for (const path of directories) removeTempDir(path)
  }
}
process.stdout.write(`\n${report.table()}\n`)
process.exit()

/** The benches that were named, or all, in order; with those whose figures they are compared with. */
async function chosen(names: readonly string[]): Promise<readonly Bench[]> {
  const wanted = names.length === 0 ? Object.keys(BENCHES) : names
  const loaded = await Promise.all(wanted.map(name => (BENCHES[name] as () => Promise<Bench>)()))
  const needed = new Set([...wanted, ...loaded.flatMap(({ needs }) => needs ?? [])])
  return await Promise.all(Object.entries(BENCHES).flatMap(([name, load]) => (needed.has(name) ? [load()] : [])))
}
