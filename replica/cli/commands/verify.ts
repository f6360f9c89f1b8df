import { resolve } from 'node:path'
import type { Fault } from '../../../schema/commands/host.ts'
import { LIMITS } from '../../../schema/limits.ts'
import type { CommandBody, CommandContext, Outcome } from '../context.ts'
import { CliFailure, toFailure } from '../failure.ts'
import { counts } from '../output/counts.ts'
import { chosenRoot, rootIdOf } from '../reach/here.ts'
import { loadLeader } from '../reach/leader-module.ts'

/** `headwater verify`: by the running leader if there is one, else on a view of the root that nothing else is touched by. Source: D2, R9. */
export const body: CommandBody = async (context, { args: [directory] }) => {
  const { flags, surroundings } = context
  if (directory !== undefined && (flags.root !== undefined || flags.url !== undefined)) {
    throw new CliFailure('usage', 'Name the root once: as DIR or with --root.', { example: 'headwater verify ./data' })
  }
  const root = directory === undefined ? chosenRoot(flags, surroundings) : resolve(surroundings.cwd, directory)
  const isRoot = directory === undefined || (await rootIdOf(root)) !== undefined
  const online = isRoot ? await verifyByLeader(context, directory === undefined ? undefined : root) : undefined
  return online ?? verifyOffline(context, root)
}

async function verifyByLeader(context: CommandContext, root: string | undefined): Promise<Outcome | undefined> {
  let connection: Awaited<ReturnType<CommandContext['connect']>>
  try {
    connection = await context.connect({ spawn: 'never', ...(root === undefined ? {} : { root }) })
  } catch (error) {
    if (toFailure(error).code === 'unreachable' && context.flags.url === undefined) return undefined
    throw error
  }
  const result = await connection.request(
    'root.verify',
    {},
    { signal: context.signal, onProgress: progress => context.notices.progress(progressText(progress)) },
  )
  context.notices.progress('')
  return verified({ ...result, by: 'leader' })
}

/** How far it is, and what there is in all where that is known. */
function progressText({ sessions, sessionsTotal, records }: Readonly<Record<string, unknown>>): string {
  return `verifying … ${sessions ?? 0} of ${sessionsTotal ?? '?'} sessions, ${records ?? 0} records`
}

async function verifyOffline(context: CommandContext, root: string): Promise<Outcome> {
  const leader = await loadLeader()
  const walk = leader.verifyDirectory(root, progress => context.notices.progress(progressText({ ...progress })))
  const faults: Fault[] = []
  try {
    for (;;) {
      const step = await walk.next()
      if (step.done) return verified({ ...step.value, faults })
      if (faults.length < LIMITS.verifyFaults) faults.push(step.value)
    }
  } catch (error) {
    if (toFailure(error).code !== 'root_owned') throw error
    throw new CliFailure('root_owned', 'A leader holds this data root but does not answer.', {
      next: 'headwater status',
    })
  } finally {
    context.notices.progress('')
  }
}

interface Verified {
  readonly faults: readonly Fault[]
  readonly by: 'leader' | 'view' | 'copy' | 'backup'
  readonly sessions: number
  readonly records: number
  readonly documents: number
}

function verified(result: Verified): Outcome {
  const { faults, sessions, records, documents } = result
  const counted = `${counts(sessions, 'session')}, ${counts(records, 'record')}, ${counts(documents, 'document')}`
  if (faults.length > 0) {
    const lines = faults.map(fault => `  ${faultText(fault)}`).join('\n')
    throw new CliFailure('damage_found', `${counts(faults.length, 'fault')} found in ${counted}:\n${lines}`, {
      detail: result,
    })
  }
  return { result, text: `no faults in ${counted}` }
}

function faultText({ code, kind, sessionId, revision, message }: Fault): string {
  const where = [sessionId, revision === undefined ? undefined : `revision ${revision}`].filter(Boolean).join(' ')
  return [kind ?? code, where, message].filter(text => text !== undefined && text !== '').join('  ')
}
