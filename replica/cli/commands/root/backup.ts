import { resolve } from 'node:path'
import { byteText } from '../../../view/byte-text.ts'
import type { CommandBody, CommandContext, Outcome } from '../../context.ts'
import { CliFailure, toFailure } from '../../failure.ts'
import { counts } from '../../output/counts.ts'
import { chosenRoot } from '../../reach/here.ts'
import { loadLeader } from '../../reach/leader-module.ts'

/** `headwater backup`: by the running leader if there is one, else of a view of the root. Source: D3. */
export const body: CommandBody = async (context, { args: [directory = ''] }) => {
  const path = resolve(context.surroundings.cwd, directory)
  try {
    const outcome = (await backUpByLeader(context, path)) ?? (await backUpOffline(context, path))
    context.notices.notice(`to put it back: headwater --root NEW restore ${directory}`)
    return outcome
  } finally {
    context.notices.progress('')
  }
}

async function backUpByLeader(context: CommandContext, path: string): Promise<Outcome | undefined> {
  let connection: Awaited<ReturnType<CommandContext['connect']>>
  try {
    connection = await context.connect({ spawn: 'never' })
  } catch (error) {
    if (toFailure(error).code === 'unreachable' && context.flags.url === undefined) return undefined
    throw error
  }
  const { signal } = context
  const onProgress = (progress: Readonly<Record<string, unknown>>): void => tell(context, progress)
  return backedUp({ ...(await connection.request('root.backup', { path }, { signal, onProgress })), by: 'leader' })
}

async function backUpOffline(context: CommandContext, path: string): Promise<Outcome> {
  const leader = await loadLeader()
  const root = chosenRoot(context.flags, context.surroundings)
  try {
    const onProgress = (progress: object): void => tell(context, { ...progress })
    const { records, bytes } = await leader.backupRoot({ root, path, onProgress })
    return backedUp({ path, records, bytes, by: 'view' })
  } catch (error) {
    if (toFailure(error).code !== 'root_owned') throw error
    throw new CliFailure('root_owned', 'A leader holds this data root but does not answer.', {
      next: 'headwater status',
    })
  }
}

function tell(context: CommandContext, { records, bytes }: Readonly<Record<string, unknown>>): void {
  context.notices.progress(`copying … ${records ?? 0} rows, ${byteText(Number(bytes ?? 0))}`)
}

interface BackedUp {
  readonly path: string
  readonly records: number
  readonly bytes: number
  readonly by: 'leader' | 'view'
}

function backedUp(result: BackedUp): Outcome {
  return { result, text: `${result.path}  ${counts(result.records, 'row')}, ${byteText(result.bytes)}` }
}
