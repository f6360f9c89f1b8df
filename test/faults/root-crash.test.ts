import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { tryAcquireRootOwner } from '../../leader/log/root/owner.ts'
import { resolveRoot } from '../../leader/log/root/resolve.ts'
import { readRootToken } from '../../leader/log/root/token.ts'
import { seededRandom, testSeed } from '../support/random.ts'
import { listNames, own } from '../support/root/roots.ts'
import { testTempDir } from '../support/temp-dir.ts'

const MAKER = fileURLToPath(new URL('../support/root/maker.ts', import.meta.url))
const ROUNDS = 6

interface Printed {
  readonly path: string
  readonly rootId: string
  readonly port?: number
}

/** Lets a maker work for some milliseconds after its first root, kills it, and gives what it had printed. */
async function makeRootsAndKill(directory: string, afterMs: number): Promise<readonly Printed[]> {
  const child = spawn(process.execPath, ['--import', 'tsx', MAKER, directory], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const printed: Printed[] = []
  const lines = createInterface({ input: child.stdout })
  lines.on('line', line => printed.push(JSON.parse(line)))
  await once(lines, 'line')
  await delay(afterMs)
  child.kill('SIGKILL')
  await once(child, 'close')
  return printed
}

test('R1 R7 a process killed while it makes and owns roots leaves roots that are whole or can be finished', async () => {
  const seed = testSeed()
  const random = seededRandom(seed)
  for (let round = 0; round < ROUNDS; round++) {
    const directory = testTempDir('crash')
    const printed = await makeRootsAndKill(directory, random.between(0, 120))
    const context = `seed ${seed}, round ${round}`
    expect(printed.length, context).toBeGreaterThan(0)
    for (const name of listNames(directory)) {
      const path = join(directory, name)
      const root = await resolveRoot({ path })
      const owner = await own(root)
      owner.prove()
      expect((await readRootToken(root)).length, context).toBe(43)
      const said = printed.filter(line => line.path === path)
      for (const line of said) expect(root.rootId, context).toBe(line.rootId)
      const port = said.find(line => line.port !== undefined)?.port
      if (port !== undefined) expect([await owner.port(), owner.databaseCreated()], context).toEqual([port, true])
      await owner.close()
      expect(
        listNames(path).filter(entry => entry.endsWith('.tmp') || entry === 'views'),
        context,
      ).toEqual([])
    }
  }
})

/** A file system of this size, or undefined where mounting is not permitted. */
function mountSmall(path: string, size: string): boolean {
  mkdirSync(path)
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', path]).status !== 0) return false
  onTestFinished(() => void spawnSync('umount', [path]))
  return true
}

function fill(path: string): void {
  for (;;) {
    try {
      appendFileSync(path, Buffer.alloc(4_096))
    } catch (error) {
      expect(error).toMatchObject({ code: 'ENOSPC' })
      return
    }
  }
}

test('E8 R3 a root on a full disk can be owned again after a kill', async context => {
  const mount = join(testTempDir('full'), 'm')
  if (!mountSmall(mount, '512k')) return context.skip('mounting is not permitted')
  const path = join(mount, 'root')
  const first = await own(await resolveRoot({ path }))
  await first.markDatabaseCreated()
  await first.close()
  for (let tenure = 0; tenure < 3; tenure++) {
    fill(join(mount, 'fill'))
    const owner = await own(await resolveRoot({ path }))
    owner.prove()
    expect(owner.databaseCreated()).toBe(true)
    await owner.close()
  }
})

test('E8 a root that cannot be locked for want of space is storage_full, not owned and not damaged', async context => {
  const mount = join(testTempDir('full'), 'm')
  if (!mountSmall(mount, '64k')) return context.skip('mounting is not permitted')
  const root = await resolveRoot({ path: join(mount, 'root') })
  fill(join(mount, 'fill'))
  await expect(tryAcquireRootOwner(root)).rejects.toMatchObject({ code: 'storage_full' })
  await expect(resolveRoot({ path: join(mount, 'another') })).rejects.toMatchObject({ code: 'storage_full' })
})
