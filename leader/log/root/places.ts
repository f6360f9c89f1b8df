import { homedir, tmpdir } from 'node:os'
import envPaths from 'env-paths'
import { type Places, resolvePlaces } from '../../../schema/places.ts'

/** The places of this process's user, by its environment as it is now. Source: interfaces 5. */
export function readPlaces(): Places {
  return resolvePlaces({
    env: process.env,
    platform: process.platform,
    home: homedir(),
    tmp: tmpdir(),
    uid: process.getuid?.(),
    habit: envPaths('headwater', { suffix: '' }),
  })
}
