import { createHash } from 'node:crypto'
import * as Y from 'yjs'
import type {
  Caller,
  DocumentMembership,
  DocumentSubscriber,
  HostPort,
  JoinOutcome,
  JoinRequest,
  Reply,
} from '../../leader/transport/host-port.ts'
import type { ConnectionRoster } from '../../leader/transport/roster.ts'
import type { Fault, HostState } from '../../schema/commands/host.ts'
import { PROTOCOL, VERSION } from '../../schema/version.ts'
import { CLOSE_CODES, retryReason } from '../../schema/wire/close-codes.ts'
import { encodeLeaderAwareness, encodeSyncStep2, encodeSyncUpdate } from '../../schema/wire/sync.ts'

type Progress = (progress: Readonly<Record<string, unknown>>) => void
type Operation = (
  input: Readonly<Record<string, unknown>>,
  caller: Caller,
  onProgress: Progress,
) => Promise<Reply> | Reply

interface Member {
  readonly subscriber: DocumentSubscriber
  isSynced: boolean
}

/** A document with those who follow it: answers sync step 1 and publishes every update to those who asked before. */
export class FakeRoom {
  readonly doc = new Y.Doc()
  readonly members = new Set<Member>()
  resyncs = 0
  queries = 0
  readonly #hostEpoch: string
  #clock = 0

  constructor(hostEpoch: string) {
    this.#hostEpoch = hostEpoch
    this.doc.on('update', (update: Uint8Array) => {
      const message = encodeSyncUpdate(update)
      for (const member of this.members) if (member.isSynced) member.subscriber.send(message)
    })
  }

  join(subscriber: DocumentSubscriber): JoinOutcome {
    const member: Member = { subscriber, isSynced: false }
    this.members.add(member)
    const answer = (stateVector?: Uint8Array) => {
      subscriber.send(encodeSyncStep2(Y.encodeStateAsUpdate(this.doc, stateVector)))
      subscriber.send(this.#awareness())
      member.isSynced = true
    }
    const membership: DocumentMembership = {
      syncStep1: stateVector => {
        Y.decodeStateVector(stateVector)
        answer(stateVector)
      },
      queryAwareness: () => {
        this.queries += 1
        subscriber.send(this.#awareness())
      },
      resync: () => {
        this.resyncs += 1
        answer()
      },
      leave: () => void this.members.delete(member),
    }
    return { kind: 'joined', membership }
  }

  #awareness(): Uint8Array {
    return encodeLeaderAwareness(1, ++this.#clock, {
      hostEpoch: this.#hostEpoch,
      baseRevision: 0,
      generation: 'g1',
      presence: [],
      presenceCount: this.members.size,
      at: Date.now(),
    })
  }
}

/** A small leader behind the real contract: documents that sync, artifacts that are kept, operations that tests may add. */
export class FakeHost implements HostPort {
  readonly rootId = 'a'.repeat(64)
  readonly hostEpoch = '00000000-0000-4000-8000-000000000001'
  state: HostState = 'ready'
  readiness = 'ready'
  faults: readonly Fault[] = []
  readonly rooms = new Map<string, FakeRoom>()
  readonly catalog = new FakeRoom(this.hostEpoch)
  readonly artifacts = new Map<string, { bytes: Buffer; mimeType: string }>()
  readonly executed: { readonly operation: string; readonly caller: Caller }[] = []
  readonly operations = new Map<string, Operation>()
  /** Waited for before a join is answered. */
  joinGate: Promise<void> = Promise.resolve()
  readonly #roster: ConnectionRoster

  constructor(roster: ConnectionRoster) {
    this.#roster = roster
    this.operations.set('host.status', () => ({ ok: true, result: this.status() }))
    this.operations.set('transcript.page', input =>
      this.rooms.has(String(input.sessionId))
        ? { ok: true, result: { entries: [], firstSeq: 0, lastSeq: 0, hasMore: false, asked: input } }
        : refuse('not_found'),
    )
  }

  room(sessionId: string): FakeRoom {
    const room = this.rooms.get(sessionId) ?? new FakeRoom(this.hostEpoch)
    this.rooms.set(sessionId, room)
    return room
  }

  status() {
    const { rootId, hostEpoch, state } = this
    const protocol = { ...PROTOCOL }
    return {
      rootId,
      hostEpoch,
      state,
      connections: this.#roster.count,
      activeTurns: 0,
      uptimeMs: 1,
      version: VERSION,
      protocol,
      faults: [],
    }
  }

  async execute(operation: string, input: unknown, caller: Caller, onProgress: Progress = () => {}): Promise<Reply> {
    if (this.state === 'draining' && operation !== 'host.status') return refuse('host_draining')
    const run = this.operations.get(operation)
    if (!run) return refuse('invalid_request')
    this.executed.push({ operation, caller })
    return run(input as Readonly<Record<string, unknown>>, caller, onProgress)
  }

  async joinSession(sessionId: string, request: JoinRequest, subscriber: DocumentSubscriber): Promise<JoinOutcome> {
    await this.joinGate
    if (this.state === 'draining') {
      return { kind: 'refused', closeCode: CLOSE_CODES.draining, reason: retryReason('draining', 100) }
    }
    const room = this.rooms.get(sessionId)
    if (!room) return { kind: 'refused', closeCode: CLOSE_CODES.not_found, reason: 'not_found' }
    if (request.generation !== undefined && request.generation !== 'g1') {
      return { kind: 'refused', closeCode: CLOSE_CODES.other_generation, reason: 'other_generation' }
    }
    return room.join(subscriber)
  }

  async joinCatalog(_request: JoinRequest, subscriber: DocumentSubscriber): Promise<JoinOutcome> {
    return this.catalog.join(subscriber)
  }

  async putArtifact(bytes: AsyncIterable<Uint8Array>, mimeType: string): Promise<Reply> {
    const pieces: Uint8Array[] = []
    for await (const piece of bytes) pieces.push(piece)
    const whole = Buffer.concat(pieces)
    const hash = `sha256:${createHash('sha256').update(whole).digest('hex')}`
    this.artifacts.set(hash, { bytes: whole, mimeType })
    return { ok: true, result: { hash } }
  }

  async readArtifact(hash: string) {
    const artifact = this.artifacts.get(hash)
    if (!artifact) return undefined
    const { bytes, mimeType } = artifact
    return { bytes: bytes.length, mimeType, pieces: slices(bytes) }
  }
}

async function* slices(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 64 * 1024) yield bytes.subarray(at, at + 64 * 1024)
}

function refuse(code: string): Reply {
  return { ok: false, error: { code, message: code } }
}
