import { type Check, ok, warn } from './check.ts'

/** What this version of headwater needs. */
const LEAST_NODE = { major: 20, minor: 19 } as const

/** What is the same for every root: the runtime and what the platform promises. Source: A2. */
export function checkSystem(platform: string = process.platform, version: string = process.versions.node): Check[] {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isNewEnough = major > LEAST_NODE.major || (major === LEAST_NODE.major && minor >= LEAST_NODE.minor)
  const least = `${LEAST_NODE.major}.${LEAST_NODE.minor}`
  return [
    isNewEnough
      ? ok('node', `${version}`)
      : warn('node', `${version} is older than ${least}`, `install Node ${least} or newer`),
    platform === 'darwin'
      ? warn(
          'durability',
          'on macOS fsync does not reach the medium with this LevelDB: a loss of power may cost the newest records',
        )
      : ok('durability', 'what is acknowledged has been fsynced'),
  ]
}
