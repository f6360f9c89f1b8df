import { readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import type { Input } from '../../../../schema/commands/index.ts'
import { LIMITS } from '../../../../schema/limits.ts'
import { askYesNo } from '../../answering/ask.ts'
import type { CommandBody, CommandContext } from '../../context.ts'
import { CliFailure } from '../../failure.ts'
import { type FrozenHost, findFrozenHost, isThereAnyway } from '../../reach/frozen-host.ts'

const LOOK_AGAIN_MS = 25

/** `headwater stop`: asks the leader to drain and waits until its process has ended. */
export const body: CommandBody = async (context, { options }) => {
  const input = options.now === true ? { now: true } : {}
  const host = await findFrozenHost(context)
  const stopped = (await stopByConnection(context, input, host)) ?? (await stopFrozen(context, input, host))
  if (host?.registration.hostEpoch === stopped.hostEpoch) await processEnd(host.registration.pid, context.signal)
  return { result: stopped, text: '' }
}

type ShutdownInput = Input<'host.shutdown'>

interface Stopped {
  readonly rootId: string
  readonly hostEpoch: string
  readonly stoppedTurns: number
}

/** Undefined: there is a leader, but it takes no ordinary connection. */
async function stopByConnection(
  context: CommandContext,
  input: ShutdownInput,
  host: FrozenHost | undefined,
): Promise<Stopped | undefined> {
  if (host !== undefined && host.registration.state !== 'ready') return undefined
  try {
    const connection = await context.connect({ spawn: 'never', reconnect: false })
    const { rootId, hostEpoch } = connection
    const { activeTurns } = await connection.status({ signal: context.signal })
    if (activeTurns > 0) await confirm(context, activeTurns)
    await connection.request('host.shutdown', input, { signal: context.signal })
    context.notices.progress('waiting for the leader to end …')
    await connection.closed
    return { rootId, hostEpoch, stoppedTurns: activeTurns }
  } catch (error) {
    if (host === undefined || !isThereAnyway(error)) throw error
    return undefined
  }
}

/** A leader of another version, or one that is not ready, is asked as every version understands it. Source: M2. */
async function stopFrozen(
  context: CommandContext,
  input: ShutdownInput,
  host: FrozenHost | undefined,
): Promise<Stopped> {
  const status = await host?.ask('host.status', {})
  if (host === undefined || status === undefined)
    throw new CliFailure('unreachable', undefined, { next: 'headwater serve' })
  const { rootId, hostEpoch, activeTurns } = status
  if (activeTurns > 0) await confirm(context, activeTurns)
  if (status.state !== 'draining') await host.ask('host.shutdown', input)
  return { rootId, hostEpoch, stoppedTurns: activeTurns }
}

async function confirm(context: CommandContext, activeTurns: number): Promise<void> {
  const turns = activeTurns === 1 ? '1 turn is running and is' : `${activeTurns} turns are running and are`
  if (context.flags.yes || !context.canPrompt) {
    context.notices.notice(`${turns} cancelled.`)
    return
  }
  const isAgreed = await askYesNo(context, `${turns} cancelled by this. Stop the leader?`)
  if (!isAgreed) throw new CliFailure('refused', 'Nothing was stopped.', { next: 'headwater stop --yes' })
}

async function processEnd(pid: number, signal: AbortSignal): Promise<void> {
  const until = performance.now() + LIMITS.stopWaitMs
  while (await isRunning(pid)) {
    if (performance.now() > until) {
      throw new CliFailure('timeout', `The leader (process ${pid}) has not ended yet; it is still stopping.`)
    }
    await pause(LOOK_AGAIN_MS, undefined, { signal })
  }
}

/** A zombie has ended: it only waits for a parent that may never ask, as in a container without an init. */
async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return !/\) [ZX] /.test(stat)
}
