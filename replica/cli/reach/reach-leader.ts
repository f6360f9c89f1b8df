import { readFile } from 'node:fs/promises'
import { LIMITS } from '../../../schema/limits.ts'
import type { ConnectOptions, ConnectResult, LeaderConnection } from '../../client/types.ts'
import type { GlobalFlags, ReachOptions, Surroundings } from '../context.ts'
import { CliFailure, usage } from '../failure.ts'
import type { Notices } from '../output/notices.ts'
import { minded } from './lost-connection.ts'

/** How long a person waits before being told what for. Source: experience 3.2. */
const NOTICE_AFTER_MS = 1_000

interface Reach {
  connect(options: ReachOptions): Promise<LeaderConnection>
  /** Closes what was opened. */
  close(): Promise<void>
}

interface Asked extends Asking {
  readonly notices: Notices
}

/** Who asks for a leader, and since when; `startedAt` as `performance.now()` counts. */
export interface Asking {
  readonly flags: GlobalFlags
  readonly surroundings: Surroundings
  readonly signal: AbortSignal
  readonly startedAt: number
}

/** The way of one call to its leader. `connect` throws a CliFailure where there is none. */
export function reachLeader(asked: Asked): Reach {
  const open: LeaderConnection[] = []
  return {
    async connect(options) {
      const target = options.root === undefined ? await connectTarget(asked) : { root: options.root }
      const where = target.url ?? target.root ?? 'this root'
      const notice = setTimeout(() => asked.notices.notice(waitingFor(where, options)), NOTICE_AFTER_MS)
      try {
        const result = await connectOrSpawn(asked, options, target)
        if (asked.signal.aborted) throw asked.signal.reason
        if (result.kind !== 'connected') throw notConnected(result, asked)
        const { notices, signal } = asked
        open.push(result.connection)
        notices.verbose(`connected to epoch ${result.connection.hostEpoch}`)
        if (options.reconnect === false) return result.connection
        return minded(result.connection, { notices, signal, isPatient: options.isPatient === true })
      } finally {
        clearTimeout(notice)
      }
    },
    async close() {
      await Promise.all(open.splice(0).map(connection => connection.close().catch(() => {})))
    },
  }
}

/**
 * A leader that runs is used without the right to start another one: after its death it is up to whoever started it, and a client that
 * started a new one would take the root from them.
 */
export async function connectOrSpawn(asked: Asking, options: ReachOptions, target: Target): Promise<ConnectResult> {
  const cache = options.reconnect === false ? false : await copiesOf(asked.surroundings)
  const attempt = (spawn: boolean) =>
    asked.surroundings.connect({
      ...target,
      surface: options.surface ?? 'run',
      ...(options.clientInstanceId === undefined ? {} : { clientInstanceId: options.clientInstanceId }),
      spawn,
      ...(options.reconnect === undefined ? {} : { reconnect: options.reconnect }),
      cache,
      signal: asked.signal,
      deadlineMs: remainingMs(asked),
    })
  const found = await attempt(false)
  const isInTheWay =
    found.kind === 'unavailable' || (found.kind === 'incompatible' && found.leader.max < found.replica.min)
  return isInTheWay && (await maySpawn(target.root, options)) ? attempt(true) : found
}

async function copiesOf({ env }: Surroundings): Promise<string> {
  const { copiesFolder } = await import('./copies.ts')
  return copiesFolder(env)
}

type Target = Pick<ConnectOptions, 'root' | 'url' | 'token'>

/** What the flags name: a root, or a leader elsewhere with its token. Throws a CliFailure for flags that do not fit. */
export async function connectTarget({ flags, surroundings }: Pick<Asking, 'flags' | 'surroundings'>): Promise<Target> {
  if (flags.url === undefined) {
    const { chosenRoot } = await import('./here.ts')
    return { root: chosenRoot(flags, surroundings) }
  }
  if (flags.root !== undefined) throw usage('--root and --url exclude each other.', 'headwater status --root DIR')
  if (!/^https?:\/\//i.test(flags.url) || !URL.canParse(flags.url)) {
    throw usage(
      `--url takes an http or https address, not "${flags.url}".`,
      'headwater --url https://127.0.0.1:4433 status',
    )
  }
  const file = surroundings.env.HEADWATER_TOKEN_FILE
  if (file === undefined || file === '') return { url: flags.url }
  try {
    return { url: flags.url, token: (await readFile(file, 'utf8')).trim() }
  } catch (error) {
    throw usage(`The token file ${file} cannot be read: ${(error as Error).message}.`)
  }
}

async function maySpawn(root: string | undefined, options: ReachOptions): Promise<boolean> {
  if (root === undefined || options.spawn === 'never') return false
  if (options.spawn === 'any_root') return true
  const { rootIdOf } = await import('./here.ts')
  return (await rootIdOf(root)) !== undefined
}

function remainingMs({ flags, startedAt }: Asking): number {
  const spent = performance.now() - startedAt
  return Math.max(1, Math.min(LIMITS.connectDeadlineMs, (flags.timeoutMs ?? Number.POSITIVE_INFINITY) - spent))
}

function waitingFor(where: string, options: ReachOptions): string {
  return options.spawn !== 'never'
    ? `starting a leader for ${where}, or waiting for it …`
    : `waiting for the leader of ${where} …`
}

/** Another leader would not do better. */
const IS_ILL = /^a leader was started but ended|^the marker of /

function notConnected(result: Exclude<ConnectResult, { kind: 'connected' }>, { flags }: Asked): CliFailure {
  switch (result.kind) {
    case 'unavailable':
      return new CliFailure('unreachable', `No leader answers for this data root: ${result.reason}`, {
        detail: { reason: result.reason },
        next:
          flags.url !== undefined
            ? 'start the leader there, or check the address'
            : IS_ILL.test(result.reason)
              ? 'headwater doctor'
              : 'headwater serve',
      })
    case 'incompatible':
      return incompatible(result)
    case 'unauthorized':
      return new CliFailure('unauthorized')
    case 'draining':
      return new CliFailure('host_draining', undefined, { next: 'try again in a moment' })
    default:
      return result satisfies never
  }
}

function incompatible({ leader, replica, busy }: Extract<ConnectResult, { kind: 'incompatible' }>): CliFailure {
  const isLeaderOlder = leader.max < replica.min
  const message =
    `The leader is headwater ${leader.version} (protocol ${leader.min}–${leader.max}), this is ${replica.version} ` +
    `(protocol ${replica.min}–${replica.max}).${busy === undefined ? '' : busyText(busy)}`
  return new CliFailure('incompatible', message, {
    detail: { leader, replica, ...(busy === undefined ? {} : { busy }) },
    next: isLeaderOlder
      ? 'headwater stop, then start it again with this version'
      : 'upgrade this one: npm install headwater@latest',
  })
}

/** Why an older leader was not replaced. Source: M3. */
function busyText({
  connections,
  activeTurns,
}: {
  readonly connections: number
  readonly activeTurns: number
}): string {
  const clients = connections === 1 ? '1 client' : `${connections} clients`
  const turns = activeTurns === 1 ? '1 running turn' : `${activeTurns} running turns`
  return ` It is at work (${clients}, ${turns}) and was left alone.`
}
