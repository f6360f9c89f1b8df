import { join } from 'node:path'
import { REGISTRATION_FILE, rootFolder } from '../../../../schema/places.ts'
import type { CommandBody } from '../../context.ts'
import { renderFields } from '../../output/fields.ts'
import { chosenRoot, logFileOf, placesHere, readRegistration, rootIdOf } from '../../reach/here.ts'

/** `headwater paths`: where everything is kept; what only a root that exists has is null without one. */
export const body: CommandBody = async context => {
  const places = placesHere(context.surroundings.env)
  const root = chosenRoot(context.flags, context.surroundings)
  const rootId = await rootIdOf(root)
  const registration = await readRegistration(places, root)
  const result = {
    root,
    rootId: rootId ?? null,
    config: places.configFile,
    cache: places.cache,
    logs: places.logs,
    log: rootId === undefined ? null : logFileOf(places, rootId),
    state: places.state,
    runtime: places.runtime,
    registration: rootId === undefined ? null : join(places.runtime, rootFolder(rootId), REGISTRATION_FILE),
    socket: registration?.socketPath ?? null,
    url: registration?.url ?? null,
  }
  const fields = Object.entries(result).map(([name, value]): [string, string] => [name, value ?? '-'])
  return { result, text: renderFields(context.out, fields) }
}
