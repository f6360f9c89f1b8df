import { writeSync } from 'node:fs'
import { type Backend, type Leader, resolveRoot, startLeader, tryAcquireRootOwner } from '../../../leader/index.ts'

/*
 * A process that is a leader and nothing else: `leader-child.ts ROOT IDLE_GRACE_MS`. It has no handle of its own, so it ends when the
 * leader has let go of everything. SIGTERM closes it, SIGHUP closes it now, SIGUSR2 closes it twice and then once more.
 */

/** Never ends, whatever it is told; `polite` waits for its stop. */
const hanging: Backend = { kind: 'hanging', start: () => new Promise(() => {}) }
const polite: Backend = {
  kind: 'polite',
  start: run =>
    new Promise((_, reject) => {
      run.signal.addEventListener('abort', () => reject(run.signal.reason))
    }),
}

function say(line: object): void {
  writeSync(1, `${JSON.stringify(line)}\n`)
}

async function closeThrice(leader: Leader): Promise<void> {
  const [first, second] = [leader.close(), leader.close()]
  await Promise.all([first, second])
  await leader.close()
  say({ thrice: first === second })
}

async function main(): Promise<void> {
  const [path = '', graceMs = ''] = process.argv.slice(2)
  const owner = await tryAcquireRootOwner(await resolveRoot({ path }))
  if (owner === undefined) throw new Error('the root is owned')
  const idle = graceMs === '' ? {} : { idleGraceMs: Number(graceMs) }
  const leader = await startLeader({ owner, port: 0, backends: [hanging, polite], ...idle })
  leader.closed.then(
    () => say({ closed: 'ok' }),
    error => say({ closed: error.code }),
  )
  process.on('SIGTERM', () => void leader.close())
  process.on('SIGHUP', () => void leader.close({ now: true }))
  process.on('SIGUSR2', () => void closeThrice(leader))
  say({ ready: leader.socketPath, hostEpoch: leader.hostEpoch })
}

await main()
