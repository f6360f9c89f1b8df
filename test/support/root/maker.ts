import { join } from 'node:path'
import { tryAcquireRootOwner } from '../../../leader/log/root/owner.ts'
import { tryAcquireRootReader } from '../../../leader/log/root/reader.ts'
import { resolveRoot } from '../../../leader/log/root/resolve.ts'

/**
 * A process that makes one root after another until it is killed: `maker.ts DIRECTORY`. Prints what is durable, one JSON line each:
 * the root's id when it is marked, its port when it is stored.
 */
const [directory = ''] = process.argv.slice(2)

function print(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`)
}

for (let i = 0; ; i++) {
  const root = await resolveRoot({ path: join(directory, `r${i}`) })
  print({ path: root.path, rootId: root.rootId })
  const owner = await tryAcquireRootOwner(root)
  if (owner === undefined) throw new Error(`a new root is owned: ${root.path}`)
  const port = await owner.port()
  await owner.markDatabaseCreated()
  print({ path: root.path, rootId: root.rootId, port })
  await owner.close()
  const reader = await tryAcquireRootReader(root)
  if (i % 2 === 0) await reader?.close() // the others' views are left to the kill
}
