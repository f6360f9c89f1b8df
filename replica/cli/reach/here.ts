import { join, resolve } from 'node:path'
import { type Places, rootFolder } from '../../../schema/places.ts'
import type { Registration } from '../../../schema/wire/registration.ts'
import { findRegistrations, placesOf, readRootId } from '../../client/node/discovery.ts'
import type { GlobalFlags, Surroundings } from '../context.ts'

/** Where everything of this user is. Source: interfaces 5. */
export function placesHere(env: Surroundings['env']): Places {
  return placesOf(env)
}

/** The data root this call is about, absolute: `--root`, else `$HEADWATER_ROOT`, else the user's. Source: interfaces 5. */
export function chosenRoot(flags: GlobalFlags, surroundings: Surroundings): string {
  return resolve(surroundings.cwd, flags.root ?? placesHere(surroundings.env).root)
}

/** The id of a root, from its marker; undefined for a directory that is none, or cannot be read. */
export function rootIdOf(root: string): Promise<string | undefined> {
  return readRootId(root)
}

/** What the newest leader of a root wrote down about itself: a hint for people and for waiting, never evidence. Source: R2, R8. */
export async function readRegistration(places: Places, root: string): Promise<Registration | undefined> {
  return (await findRegistrations(places, root)).here[0]
}

/** The file a root's leader logs to. */
export function logFileOf(places: Places, rootId: string): string {
  return join(places.logs, rootFolder(rootId), 'leader.log')
}
