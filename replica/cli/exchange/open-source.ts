import type { LeaderConnection } from '../../client/types.ts'
import type { CommandContext } from '../context.ts'
import { CliFailure, toFailure } from '../failure.ts'
import { chosenRoot } from '../reach/here.ts'
import { resolveStored } from '../reach/id-prefix.ts'
import { loadLeader } from '../reach/leader-module.ts'
import { resolveSession } from '../reach/named-session.ts'
import { leaderSource } from './leader-source.ts'
import type { SessionSource } from './source.ts'
import { viewSource } from './view-source.ts'

/** Reads a session the person named: at the running leader if there is one, else in a view of its root. Source: R9. */
export async function withSessionSource<T>(
  context: CommandContext,
  named: string,
  work: (source: SessionSource) => Promise<T>,
): Promise<T> {
  const connection = await leaderThere(context)
  if (connection === undefined) return await inView(context, named, work)
  const sessionId = await resolveSession(context, connection, named)
  return await work(leaderSource(connection, sessionId, context.signal))
}

async function leaderThere(context: CommandContext): Promise<LeaderConnection | undefined> {
  try {
    return await context.connect({ spawn: 'never' })
  } catch (error) {
    if (toFailure(error).code === 'unreachable' && context.flags.url === undefined) return undefined
    throw error
  }
}

async function inView<T>(
  context: CommandContext,
  named: string,
  work: (source: SessionSource) => Promise<T>,
): Promise<T> {
  const leader = await loadLeader()
  const path = chosenRoot(context.flags, context.surroundings)
  const root = await leader.resolveRoot({ path, create: false })
  const reader = await leader.tryAcquireRootReader(root)
  if (reader === undefined) {
    throw new CliFailure('root_owned', 'A leader holds this data root but does not answer.', {
      next: 'headwater status',
    })
  }
  try {
    const store = await leader.openStore(reader)
    try {
      return await work(viewSource(store, root, await resolveStored(store, named)))
    } finally {
      await store.close()
    }
  } finally {
    await reader.close()
  }
}
