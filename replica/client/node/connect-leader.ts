import { isAbsolute, resolve } from 'node:path'
import process from 'node:process'
import { isEntityId } from '../../../schema/ids.ts'
import { LIMITS } from '../../../schema/limits.ts'
import type { Places } from '../../../schema/places.ts'
import { connectWith, OFFERED_PROTOCOL } from '../connect.ts'
import { credentialOfToken } from '../link/credential.ts'
import type { Introduction } from '../link/handshake.ts'
import { type CacheSink, type Credential, type Locate, realSurroundings } from '../ports.ts'
import { type ConnectOptions, type ConnectResult, ReplicaProtocolError, type SpawnOptions } from '../types.ts'
import { placesOf } from './discovery.ts'
import { tcpEndpoint } from './endpoint.ts'
import { rootLocator } from './locate-root.ts'
import { wakeOnSuccessor } from './registration-watch.ts'
import { readTokenFile } from './token.ts'

/**
 * Connects to the leader of a data root on this machine, or of a URL. `connected` means that the leader is ready. With `spawn` one is
 * started where none runs, and the leader is awaited until the deadline; without, a missing one is `unavailable` at once; a leader that
 * is still recovering is awaited in both cases. Throws ReplicaProtocolError for options that do not fit. Source: E3, W1, W3, Z3.
 */
export async function connectLeader(
  options: ConnectOptions,
  copies?: { readonly sink: CacheSink; readonly address: string },
): Promise<ConnectResult> {
  checkOptions(options)
  const spawn = spawnOptions(options)
  let target: { readonly locate: Locate; readonly credential?: Credential; readonly places?: Places }
  try {
    target = options.url === undefined ? rootTarget(options, spawn) : await urlTarget(options.url, options.token)
  } catch (error) {
    if (error instanceof ReplicaProtocolError) throw error
    return { kind: 'unauthorized' }
  }
  const { locate, credential, places } = target
  const who: Introduction = {
    surface: options.surface,
    clientInstanceId: options.clientInstanceId ?? realSurroundings.newId(),
    protocol: options.protocol ?? OFFERED_PROTOCOL,
    ...(credential === undefined ? {} : { credential }),
  }
  const policy = {
    reconnect: options.reconnect ?? true,
    isPatient: spawn !== undefined && options.url === undefined,
    deadlineMs: options.deadlineMs ?? LIMITS.connectDeadlineMs,
  }
  const connect = () =>
    connectWith(
      { who, policy, locate, surroundings: realSurroundings, ...(copies === undefined ? {} : { copies }) },
      options.signal,
    )
  const first = await connect()
  const result = spawn === undefined ? first : await insteadOfOlder(first, { options, places, connect })
  if (result.kind === 'connected' && places !== undefined && policy.reconnect)
    wakeOnSuccessor(result.connection, places)
  return result
}

interface Retry {
  readonly options: ConnectOptions
  readonly places: Places | undefined
  readonly connect: () => Promise<ConnectResult>
}

/** An older leader that nobody needs makes room for one of this version; one that is at work is left alone. Source: M3. */
async function insteadOfOlder(result: ConnectResult, { options, places, connect }: Retry): Promise<ConnectResult> {
  if (result.kind !== 'incompatible' || places === undefined || result.leader.max >= result.replica.min) return result
  const { endIdleLeader } = await import('./frozen-leader.ts')
  const ended = await endIdleLeader(options.root ?? places.root, places, options.signal)
  if (ended === null) return result
  if (ended.kind === 'gone') return await connect()
  const { connections, activeTurns } = ended
  return { ...result, busy: { connections, activeTurns } }
}

function checkOptions({ surface, clientInstanceId, root, url }: ConnectOptions): void {
  if (typeof surface !== 'string' || surface === '' || surface.length > LIMITS.surfaceChars) {
    throw new ReplicaProtocolError(`surface must have 1 to ${LIMITS.surfaceChars} characters`, 'surface')
  }
  if (clientInstanceId !== undefined && !isEntityId(clientInstanceId)) {
    throw new ReplicaProtocolError('clientInstanceId must match ^[A-Za-z0-9_-]{1,128}$', 'clientInstanceId')
  }
  if (root !== undefined && url !== undefined) throw new ReplicaProtocolError('root and url exclude each other', 'url')
}

function spawnOptions({ spawn }: ConnectOptions): SpawnOptions | undefined {
  if (spawn === undefined || spawn === false) return undefined
  return spawn === true ? {} : spawn
}

function rootTarget(
  options: ConnectOptions,
  spawn: SpawnOptions | undefined,
): { readonly locate: Locate; readonly places: Places } {
  const places = placesOf({ ...process.env, ...spawn?.env })
  const given = options.root ?? places.root
  const root = isAbsolute(given) ? given : resolve(given)
  const search = { root, places, surroundings: realSurroundings }
  return { locate: rootLocator(spawn === undefined ? search : { ...search, spawn }), places }
}

async function urlTarget(text: string, token: string | undefined) {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^(?:https?|wss?):$/.test(url.protocol)) {
    throw new ReplicaProtocolError('url must be an http or https address', 'url')
  }
  const file = process.env.HEADWATER_TOKEN_FILE
  const key = token ?? (file === undefined || file === '' ? undefined : await readTokenFile(file))
  const endpoint = await tcpEndpoint(url)
  const locate: Locate = async () => ({ kind: 'found', endpoint })
  return key === undefined ? { locate } : { locate, credential: await credentialOfToken(key) }
}
