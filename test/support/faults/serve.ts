import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { isHeadwaterError } from '../../../schema/errors.ts'
import { BIN } from '../leader-process.ts'
import { waitFor, within } from '../wait-for.ts'
import { type Found, findSession, type Ledgers } from './ledgers.ts'
import { completeTurn, connectTo } from './template.ts'
import { faultsIn, type Place, read, type Told, tell } from './told.ts'

/** What a leader on a damaged root did, and what its clients found. */
export interface Service {
  /** Null where the leader served; else how it refused. */
  readonly refusal: Told | null
  readonly sessions: ReadonlyMap<string, Found>
  /** Sessions that took a durable change. */
  readonly usable: readonly string[]
  /** Codes of the faults in `status`. */
  readonly faults: readonly string[]
  readonly verify: { readonly kinds: readonly string[]; readonly sessions: readonly string[] } | null
  /** How the leader ended, where it did not end as it was told to. */
  readonly ending: string | null
}

interface Serving {
  readonly firstLine: string | null
  /** SIGTERM; gives what it printed in all and how it ended. */
  stop(): Promise<Told>
}

/** Serves a root for a while, looks at every session, changes what can be changed, and stops. `also` runs while it serves. */
export async function serveOnce(place: Place, acknowledged: Ledgers, also: () => void = () => {}): Promise<Service> {
  const serving = await startServing(place)
  if (!isReady(serving.firstLine ?? '')) {
    const refusal = await serving.stop()
    return { refusal, sessions: new Map(), usable: [], faults: [], verify: null, ending: null }
  }
  also()
  const looked = await look(place, acknowledged)
  const told = await serving.stop()
  return { ...looked, refusal: null, ending: told.exit === '0' ? null : told.exit }
}

const isReady = (stdout: string): boolean => stdout.includes('"ok":true')

async function startServing({ root, uid }: Place): Promise<Serving> {
  const args = [BIN, '--root', root, '--json', 'serve', '--port', '0']
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid === null ? {} : { uid, gid: uid }),
  })
  const output = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', text => {
    output.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', text => {
    output.stderr += text
  })
  let hasEnded = false
  const exited = once(child, 'close').then(([code, signal]) => {
    hasEnded = true
    return { code: code as number | null, signal: signal as NodeJS.Signals | null }
  })
  await waitFor(() => hasEnded || output.stdout.includes('\n'), { what: 'a word of the leader', deadlineMs: 30_000 })
  return {
    firstLine: output.stdout.split('\n')[0] ?? null,
    stop: async () => {
      // One that refused ends by itself.
      if (isReady(output.stdout)) child.kill('SIGTERM')
      const exit = await within(exited, 20_000, 'the end of the leader').catch(() => {
        child.kill('SIGKILL')
        return exited
      })
      return read({ ...exit, ...output })
    },
  }
}

async function look(place: Place, acknowledged: Ledgers): Promise<Omit<Service, 'refusal' | 'ending'>> {
  const connection = await connectTo(place.root)
  const sessions = new Map<string, Found>()
  const usable: string[] = []
  try {
    for (const [sessionId, hashes] of acknowledged) {
      sessions.set(sessionId, await findSession(connection, sessionId, hashes))
    }
    const { faults } = await connection.status()
    const verify = faultsIn(await tell(place, 'verify'))
    for (const [sessionId, found] of sessions) {
      const isThere = found === 'equal' || found === 'went back'
      if (isThere && (await isUsable(connection, sessionId))) usable.push(sessionId)
    }
    return { sessions, usable, faults: [...new Set(faults.map(fault => fault.code))].sort(), verify }
  } finally {
    await connection.close()
  }
}

let turns = 0
const freshTurn = (): string => `matrix-${++turns}`

/** A session is usable when it takes a turn to its end; an archived one is taken out of the archive first. */
async function isUsable(connection: Awaited<ReturnType<typeof connectTo>>, sessionId: string): Promise<boolean> {
  try {
    const { session } = await connection.request('session.get', { sessionId })
    if (session.isArchived) await connection.request('session.unarchive', { sessionId, operationId: freshTurn() })
    return (await completeTurn(connection, sessionId, freshTurn())) === 'completed'
  } catch (error) {
    if (isHeadwaterError(error) || (error instanceof Error && 'code' in error)) return false
    throw error
  }
}
