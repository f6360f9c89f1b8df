import { createHash, createHmac, randomBytes } from 'node:crypto'
import * as Y from 'yjs'
import type { HostState } from '../../../schema/commands/host.ts'
import type { PresenceRow } from '../../../schema/entities/projection.ts'
import { readOrigin } from '../../../schema/projection/layout.ts'
import { proofMessage } from '../../../schema/wire/proof.ts'
import {
  encodeLeaderAwareness,
  encodeSyncStep2,
  encodeSyncUpdate,
  type LeaderAwareness,
  readClientSyncMessage,
} from '../../../schema/wire/sync.ts'
import type { LeaderEnd, LeaderSide, MemoryNetwork } from './network.ts'

/** A command as the leader got it. */
export interface ReceivedCommand {
  readonly requestId: string
  readonly operation: string
  readonly input: Readonly<Record<string, unknown>>
  readonly end: LeaderEnd
}

interface Follower {
  readonly end: LeaderEnd
  isFollowing: boolean
}

interface Room {
  readonly doc: Y.Doc
  readonly followers: Set<Follower>
  wentBack: boolean
  presence: readonly PresenceRow[]
  asked: number
}

/** What a fake leader is. `token`: over TCP, it challenges. */
export interface FakeLeaderOptions {
  readonly rootId?: string
  readonly hostEpoch?: string
  readonly state?: HostState
  readonly token?: string
  readonly address?: string
  readonly now: () => number
}

/** A leader that speaks the wire protocol over a MemoryNetwork and does what the test tells it. Documents are real Yjs. */
export class FakeLeader implements LeaderSide {
  readonly rootId: string
  readonly hostEpoch: string
  state: HostState
  /** Answers pings; false for a leader that hangs. */
  isResponsive = true
  readonly hellos: Readonly<Record<string, unknown>>[] = []
  readonly frames: Readonly<Record<string, unknown>>[] = []
  readonly commands: ReceivedCommand[] = []
  readonly joins: string[] = []
  readonly uploads: { readonly mimeType: string | undefined; readonly bytes: Uint8Array; readonly bearer: string }[] =
    []
  /** Settles a command at once; absent: the test answers. */
  onCommand: ((command: ReceivedCommand) => void) | undefined
  /** Alters a challenge before it is sent: an impostor. */
  forge: ((challenge: Record<string, unknown>) => Record<string, unknown>) | undefined
  readonly #options: FakeLeaderOptions
  readonly #links = new Set<LeaderEnd>()
  readonly #rooms = new Map<string, Room>()
  readonly #damaged = new Set<string>()
  #clock = 0

  constructor(options: FakeLeaderOptions) {
    this.#options = options
    this.rootId = options.rootId ?? 'a'.repeat(64)
    this.hostEpoch = options.hostEpoch ?? 'epoch-1'
    this.state = options.state ?? 'ready'
  }

  /** Puts this leader behind the network's address. */
  static at(network: MemoryNetwork, options: FakeLeaderOptions): FakeLeader {
    const leader = new FakeLeader(options)
    network.leader = leader
    return leader
  }

  /** Links that are open and accepted. */
  get links(): number {
    return this.#links.size
  }

  serve(path: string, doc: Y.Doc): Room {
    const room: Room = { doc, followers: new Set(), wentBack: false, presence: [], asked: 0 }
    for (const follower of this.#rooms.get(path)?.followers ?? []) follower.end.close(4410, 'other_generation')
    this.#rooms.set(path, room)
    return room
  }

  remove(path: string): void {
    for (const { end } of this.#rooms.get(path)?.followers ?? []) end.close(4404, 'not_found')
    this.#rooms.delete(path)
  }

  /** From now on nobody can follow: the session cannot be read. */
  damage(path: string): void {
    this.#damaged.add(path)
    for (const { end } of this.#rooms.get(path)?.followers ?? []) end.close(4423, 'session_damaged')
  }

  /** Sends an update to all who follow. */
  publish(path: string, update: Uint8Array): void {
    for (const follower of this.#rooms.get(path)?.followers ?? []) {
      if (follower.isFollowing) follower.end.send(encodeSyncUpdate(update))
    }
  }

  /** Tells everybody in the room its presence. */
  announce(path: string, presence: readonly PresenceRow[], more: Partial<LeaderAwareness> = {}): void {
    const room = this.#rooms.get(path) as Room
    room.presence = presence
    for (const { end } of room.followers) end.send(this.#awareness(room, more))
  }

  /** The sockets that follow a document. */
  followers(path: string): readonly LeaderEnd[] {
    return [...(this.#rooms.get(path)?.followers ?? [])].filter(one => one.isFollowing).map(one => one.end)
  }

  /** How many sync step 1 messages came for a document. */
  asked(path: string): number {
    return this.#rooms.get(path)?.asked ?? 0
  }

  setState(state: HostState): void {
    this.state = state
    for (const end of this.#links) this.#send(end, { kind: 'state', state })
  }

  /** Closes every command link with a code. */
  closeLinks(code: number, reason: string): void {
    for (const end of this.#links) end.close(code, reason)
  }

  reply(command: ReceivedCommand, result: unknown, revision?: number): void {
    this.#send(command.end, {
      requestId: command.requestId,
      ok: true,
      result,
      ...(revision === undefined ? {} : { revision }),
    })
  }

  refuse(command: ReceivedCommand, code: string, detail?: unknown): void {
    this.#send(command.end, {
      requestId: command.requestId,
      ok: false,
      error: { code, message: `refused: ${code}`, detail },
    })
  }

  push(command: ReceivedCommand, progress: Readonly<Record<string, unknown>>): void {
    this.#send(command.end, { requestId: command.requestId, progress })
  }

  sendRaw(message: string | Uint8Array): void {
    for (const end of this.#links) end.send(message)
  }

  http(request: Parameters<LeaderSide['http']>[0]) {
    const { body = new Uint8Array(), headers } = request
    this.uploads.push({ mimeType: headers['content-type'], bytes: body, bearer: headers.authorization ?? '' })
    const hash = `sha256:${createHash('sha256').update(body).digest('hex')}`
    return { status: 200, body: JSON.stringify({ ok: true, result: { hash } }) }
  }

  open(end: LeaderEnd) {
    if (end.path === '/v1/commands') return this.#openLink(end)
    return this.#join(end)
  }

  #openLink(end: LeaderEnd) {
    let hello: Record<string, unknown> | undefined
    let expected: string | undefined
    const message = (text: string | Uint8Array): void => {
      const frame = JSON.parse(String(text)) as Record<string, unknown>
      this.frames.push(frame)
      if (hello === undefined) {
        hello = frame
        this.hellos.push(frame)
        expected = this.#greet(end, frame)
      } else if (frame.kind === 'proof') {
        if (frame.proof === expected) this.#accept(end)
        else end.close(4401, 'unauthorized')
      } else this.#take(end, frame)
    }
    return { message, close: () => void this.#links.delete(end) }
  }

  #greet(end: LeaderEnd, hello: Record<string, unknown>): string | undefined {
    const { token } = this.#options
    if (this.state === 'draining') {
      this.#send(end, { kind: 'draining' })
      end.close(4500, JSON.stringify({ reason: 'draining', retryAfterMs: 250 }))
    } else if (token === undefined) this.#accept(end)
    else return this.#challenge(end, hello, token)
    return undefined
  }

  #challenge(end: LeaderEnd, hello: Record<string, unknown>, token: string): string {
    const nonce = randomBytes(32).toString('base64url')
    const sign = (role: 'leader' | 'replica'): string =>
      createHmac('sha256', createHash('sha256').update(token).digest())
        .update(
          proofMessage({
            role,
            protocol: 1,
            rootId: this.rootId,
            hostEpoch: this.hostEpoch,
            clientNonce: String(hello.nonce),
            leaderNonce: nonce,
            address: this.#options.address ?? '127.0.0.1:20000',
          }),
        )
        .digest('base64url')
    const { rootId, hostEpoch } = this
    const challenge = { kind: 'challenge', protocol: 1, rootId, hostEpoch, nonce, proof: sign('leader') }
    this.#send(end, this.forge?.({ ...challenge, echo: hello.nonce }) ?? challenge)
    return sign('replica')
  }

  #accept(end: LeaderEnd): void {
    this.#links.add(end)
    const { rootId, hostEpoch, state } = this
    const connectionId = `c${this.hellos.length}`
    const ticket = `ticket-${connectionId}`
    this.#send(end, {
      kind: 'accepted',
      rootId,
      hostEpoch,
      connectionId,
      protocol: 1,
      state,
      serverVersion: '0.1.0',
      ticket,
    })
  }

  #take(end: LeaderEnd, frame: Record<string, unknown>): void {
    if (frame.kind === 'ping' && this.isResponsive)
      this.#send(end, { kind: 'pong', id: frame.id, at: this.#options.now() })
    else if (frame.kind === 'bye' && this.isResponsive) end.close(1000, 'bye')
    else if (frame.requestId !== undefined) {
      const command = { ...frame, end } as unknown as ReceivedCommand
      this.commands.push(command)
      this.onCommand?.(command)
    }
  }

  #join(end: LeaderEnd) {
    const [path = '', query = ''] = end.path.split('?')
    this.joins.push(end.path)
    const room = this.#rooms.get(path)
    const follower: Follower = { end, isFollowing: false }
    const held = new URLSearchParams(query).get('generation')
    if (this.#damaged.has(path)) end.close(4423, 'session_damaged')
    else if (room === undefined) end.close(4404, 'not_found')
    else if (held !== null && held !== readOrigin(room.doc)?.generation) end.close(4410, 'other_generation')
    else room.followers.add(follower)
    return {
      message: (bytes: string | Uint8Array) => {
        const message = readClientSyncMessage(bytes as Uint8Array)
        if (room === undefined || !room.followers.has(follower)) return
        if (message.kind !== 'sync_step_1') throw new Error(`a replica sent ${message.kind}`)
        room.asked += 1
        this.#answer(room, follower, message.stateVector)
      },
      close: () => void room?.followers.delete(follower),
    }
  }

  #answer(room: Room, follower: Follower, stateVector: Uint8Array): void {
    const known = Y.decodeStateVector(Y.encodeStateVector(room.doc))
    for (const [client, clock] of Y.decodeStateVector(stateVector)) {
      if ((known.get(client) ?? 0) >= clock) continue
      room.wentBack = true
      follower.end.close(4410, 'other_generation')
      room.followers.delete(follower)
      return
    }
    follower.isFollowing = true
    follower.end.send(encodeSyncStep2(Y.encodeStateAsUpdate(room.doc, stateVector)))
    follower.end.send(this.#awareness(room, {}))
  }

  #awareness(room: Room, more: Partial<LeaderAwareness>): Uint8Array {
    this.#clock += 1
    return encodeLeaderAwareness(99, this.#clock, {
      hostEpoch: this.hostEpoch,
      baseRevision: 1,
      generation: readOrigin(room.doc)?.generation ?? '',
      presence: room.presence,
      presenceCount: room.presence.length,
      at: this.#options.now(),
      ...(room.wentBack ? { wentBack: true } : {}),
      ...more,
    })
  }

  #send(end: LeaderEnd, frame: Readonly<Record<string, unknown>>): void {
    end.send(JSON.stringify(frame))
  }
}
