import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { startLeaderProcess } from '../leader-process.ts'
import { waitFor } from '../wait-for.ts'
import { findSession, readLedgers } from './ledgers.ts'
import type { CustomRow, RowOutcome } from './row.ts'
import { completeTurn, connectTo, type RootTemplate } from './template.ts'
import { tell } from './told.ts'

const DISK_MIB = 48
const NAME = 'the disk full under a leader, then free again'

/** A leader on a small file system of its own that fills up; skipped where none can be mounted. */
export const DISK_ROW: CustomRow = { name: NAME, play }

async function play(template: RootTemplate): Promise<RowOutcome> {
  const disk = join(template.directory, 'disk')
  mkdirSync(disk)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MIB}m`, 'tmpfs', disk], { stdio: 'pipe' })
  } catch {
    const skipped = 'skipped: mounting needs root'
    return { title: NAME, sessions: skipped, leader: '', verify: '', doctor: '', remedy: '', violations: [] }
  }
  try {
    return await fill(template, disk)
  } finally {
    execFileSync('umount', ['-l', disk], { stdio: 'pipe' })
  }
}

async function fill({ uid }: RootTemplate, disk: string): Promise<RowOutcome> {
  const root = join(disk, 'root')
  const filler = join(disk, 'filler')
  const leader = await startLeaderProcess({ root })
  const connection = await connectTo(root)
  const faults: string[] = []
  try {
    const sessionId = 'alpha'
    await connection.createSession({ sessionId, cwd: '/', backend: 'scripted' })
    await completeTurn(connection, sessionId, 'before')
    const acknowledged = await readLedgers(connection, [sessionId])
    takeAllRoom(filler)
    const code = await firstFull(connection, sessionId)
    const named = (await connection.status()).faults.map(fault => fault.code)
    const hashes = acknowledged.get(sessionId) ?? []
    if ((await findSession(connection, sessionId, hashes)) !== 'equal') faults.push('reading does not go on')
    rmSync(filler)
    await waitFor(async () => (await connection.status()).faults.length === 0, { what: 'the leader resumes by itself' })
    await completeTurn(connection, sessionId, 'after')
    const verify = await tell({ root, uid }, 'verify')
    if (verify.exit !== '0') faults.push(`verify: ${verify.code}`)
    return {
      title: NAME,
      sessions: `all ${await findSession(connection, sessionId, hashes)}`,
      leader: `refuses with \`${code}\`; status names ${named.join(', ')}; resumes by itself within 10 s`,
      verify: verify.exit === '0' ? 'no faults' : `exit ${verify.exit}`,
      doctor: '',
      remedy: 'make room: works',
      violations: faults,
    }
  } finally {
    await connection.close()
    await leader.stop()
  }
}

/** What a command is refused with once the leader knows that there is no room. */
async function firstFull(connection: Awaited<ReturnType<typeof connectTo>>, sessionId: string): Promise<string> {
  return await waitFor(
    async () => {
      const patch = { title: 'x'.repeat(200) }
      const update = {
        sessionId,
        operationId: `full-${performance.now()}`.replace('.', '-'),
        expectedRevision: 2,
        patch,
      }
      const refused = await connection.request('session.update', update).then(
        () => null,
        (error: { code: string }) => error.code,
      )
      return refused === 'storage_full' ? refused : null
    },
    { what: 'a command is refused for want of room', deadlineMs: 20_000 },
  )
}

function takeAllRoom(path: string): void {
  for (const bytes of [1024 * 1024, 4096, 1]) {
    try {
      for (;;) appendFileSync(path, Buffer.alloc(bytes, 1))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    }
  }
}
