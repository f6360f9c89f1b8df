import { readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { LIMITS } from '../../../../schema/limits.ts'
import { askYesNo } from '../../answering/ask.ts'
import type { CommandBody, CommandContext } from '../../context.ts'
import { CliFailure } from '../../failure.ts'
import { placesHere, readRegistration } from '../../reach/here.ts'

const LOOK_AGAIN_MS = 25

/** `headwater stop`: asks the leader to drain and waits until its process has ended. */
export const body: CommandBody = async (context, { options }) => {
  const connection = await context.connect({ spawn: 'never', reconnect: false })
  const { rootId, hostEpoch } = connection
  const { activeTurns } = await connection.status({ signal: context.signal })
  if (activeTurns > 0) await confirm(context, activeTurns)
  const pid = await localPid(context, rootId, hostEpoch)
  await connection.request('host.shutdown', options.now === true ? { now: true } : {}, { signal: context.signal })
  context.notices.progress('waiting for the leader to end …')
  await connection.closed
  if (pid !== undefined) await processEnd(pid, context.signal)
  return { result: { rootId, hostEpoch, stoppedTurns: activeTurns }, text: '' }
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

/** The leader's process, if it runs on this machine and is the epoch we talked to. */
async function localPid(context: CommandContext, rootId: string, hostEpoch: string): Promise<number | undefined> {
  if (context.flags.url !== undefined) return undefined
  const registration = await readRegistration(placesHere(context.surroundings.env), rootId)
  return registration?.hostEpoch === hostEpoch ? registration.pid : undefined
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
