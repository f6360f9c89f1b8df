import { resolve } from 'node:path'
import type { Fault } from '../../../schema/commands/host.ts'
import type { CommandBody, CommandContext, Outcome } from '../context.ts'
import { CliFailure, toFailure } from '../failure.ts'
import { chosenRoot } from '../reach/here.ts'
import { loadLeader } from '../reach/leader-module.ts'

/** `headwater verify`: by the running leader if there is one, else on a view of the root that nothing else is touched by. Source: D2, R9. */
export const body: CommandBody = async (context, { args: [directory] }) => {
  const { flags, surroundings } = context
  if (directory !== undefined && (flags.root !== undefined || flags.url !== undefined)) {
    throw new CliFailure('usage', 'Name the root once: as DIR or with --root.', { example: 'headwater verify ./data' })
  }
  const root = directory === undefined ? chosenRoot(flags, surroundings) : resolve(surroundings.cwd, directory)
  const online = await verifyByLeader(context, directory === undefined ? undefined : root)
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
  return verified({ ...result, by: 'leader' })
}

function progressText(progress: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries(progress)
    .filter(([, value]) => typeof value === 'number' || typeof value === 'string')
    .map(([name, value]) => `${name} ${value}`)
  return `verifying … ${parts.join(', ')}`
}

async function verifyOffline(context: CommandContext, root: string): Promise<Outcome> {
  const leader = await loadLeader()
  const capability = await leader.resolveRoot({ path: root, create: false })
  const reader = await leader.tryAcquireRootReader(capability)
  if (reader === undefined) {
    throw new CliFailure('root_owned', 'A leader holds this data root but does not answer.', {
      next: 'headwater status',
    })
  }
  const faults: Fault[] = []
  try {
    const store = await leader.openStore(reader)
    try {
      for await (const fault of store.verify()) {
        faults.push(fault)
        context.notices.progress(`verifying … faults ${faults.length}`)
      }
    } finally {
      await store.close()
    }
  } finally {
    await reader.close()
  }
  return verified({ faults, by: 'reader' })
}

interface Verified {
  readonly faults: readonly Fault[]
  readonly by: 'leader' | 'reader'
  readonly sessions?: number
  readonly records?: number
  readonly documents?: number
}

function verified(result: Verified): Outcome {
  const { faults, sessions, records, documents } = result
  if (faults.length > 0) {
    const lines = faults.map(fault => `  ${faultText(fault)}`).join('\n')
    const count = faults.length === 1 ? '1 fault' : `${faults.length} faults`
    throw new CliFailure('damage_found', `${count} found:\n${lines}`, { detail: result })
  }
  const counted = sessions === undefined ? '' : `: ${sessions} sessions, ${records} records, ${documents} documents`
  return { result, text: `no faults${counted}` }
}

function faultText({ code, kind, sessionId, revision, message }: Fault): string {
  const where = [sessionId, revision === undefined ? undefined : `revision ${revision}`].filter(Boolean).join(' ')
  return [kind ?? code, where, message].filter(text => text !== undefined && text !== '').join('  ')
}
