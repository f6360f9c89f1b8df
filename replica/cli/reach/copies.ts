import { cacheFolder, openOffline } from '../../cache/node/open-offline.ts'
import type { OfflineReader } from '../../cache/offline-reader.ts'
import type { CommandContext, Surroundings } from '../context.ts'
import { CliFailure, toFailure } from '../failure.ts'
import { chosenRoot } from './here.ts'

/** Where this user's replicas keep copies of what they showed. Source: O1. */
export function copiesFolder(env: Surroundings['env']): string {
  return cacheFolder(undefined, env)
}

/** The copies of the root or the leader that this call is about; no leader is asked. Throws `not_found` where there are none. Source: O2. */
export async function openCopiesHere({ flags, surroundings }: CommandContext): Promise<OfflineReader> {
  const place = flags.url === undefined ? { root: chosenRoot(flags, surroundings) } : { url: flags.url }
  try {
    return await openOffline({ ...place, cache: copiesFolder(surroundings.env) })
  } catch (error) {
    if (toFailure(error).code !== 'not_found') throw error
    throw neverSeen(`Nothing of ${place.root ?? place.url} was ever seen here.`)
  }
}

/** There is no copy of what was asked for. */
export function neverSeen(message: string, detail?: object): CliFailure {
  return new CliFailure('not_found', message, {
    detail,
    next: 'headwater session show ID, while its leader can be reached',
  })
}
