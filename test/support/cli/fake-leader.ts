import {
  type ConnectOptions,
  type ConnectResult,
  type LeaderConnection,
  ReplicaOperationError,
  ReplicaSubscriptionError,
  type SessionSubscription,
  type SubscriptionFrame,
} from '../../../replica/client/types.ts'
import type { Input, OperationName, Result } from '../../../schema/commands/index.ts'
import type { Freshness } from '../../../schema/entities/projection.ts'
import type { QueueEntry } from '../../../schema/entities/queue.ts'
import type { SessionHeader } from '../../../schema/entities/session.ts'
import type { ErrorCode } from '../../../schema/errors.ts'
import { FakeSession } from './fake-session.ts'

const LIVE: Freshness = { state: 'live', asOf: 1_700_000_000_000 }
const OFFLINE: Freshness = { state: 'offline', asOf: 1_700_000_000_000 }

type Operations = { [Op in OperationName]?: (input: Input<Op>) => Result<Op> | Promise<Result<Op>> }

/** A leader in this process, driven by hand, behind the replica's own API. Refuses what a real one refuses, as far as tests look. */
export class FakeLeader {
  readonly sessions = new Map<string, FakeSession>()
  readonly connects: ConnectOptions[] = []
  /** Every operation asked for, in order. */
  readonly asked: { readonly operation: OperationName; readonly input: Record<string, unknown> }[] = []
  /** Answers instead of the ones below. */
  readonly operations: Operations = {}
  readonly #connections = new Set<FakeConnection>()
  #freshness = LIVE
  activeTurns = 0

  readonly connect = async (options: ConnectOptions): Promise<ConnectResult> => {
    this.connects.push(options)
    const connection = new FakeConnection(this)
    this.#connections.add(connection)
    return { kind: 'connected', connection: connection as unknown as LeaderConnection }
  }

  get freshness(): Freshness {
    return this.#freshness
  }

  /** The link is lost for everyone, or back. */
  setLive(isLive: boolean): void {
    this.#freshness = isLive ? LIVE : OFFLINE
    for (const connection of this.#connections) connection.freshnessChanged(this.#freshness)
  }

  /** Every connection is over, for good. */
  endAll(): void {
    for (const connection of this.#connections) connection.end()
  }

  addSession(sessionId: string, change: Partial<SessionHeader> = {}): FakeSession {
    const session = new FakeSession({
      sessionId,
      title: '',
      titleIsManual: false,
      cwd: '/somewhere',
      backend: 'scripted',
      permissionMode: 'ask',
      collaborationMode: 'agent',
      status: 'idle',
      isArchived: false,
      createdAt: 1_700_000_000_000,
      lastActivityAt: 1_700_000_000_000,
      revision: 1,
      ...change,
    })
    this.sessions.set(sessionId, session)
    return session
  }

  session(sessionId: string): FakeSession {
    const session = this.sessions.get(sessionId)
    if (session === undefined) throw refusal('not_found', `no session ${sessionId}`)
    return session
  }

  /** The only session; for tests that have one. */
  get only(): FakeSession {
    const [session] = this.sessions.values()
    if (session === undefined) throw new Error('the fake leader has no session')
    return session
  }

  async request<Op extends OperationName>(operation: Op, input: Input<Op>): Promise<Result<Op>> {
    this.asked.push({ operation, input: input as Record<string, unknown> })
    if (this.#freshness.state !== 'live') throw refusal('offline')
    const answer = this.operations[operation] ?? this.#usual[operation]
    if (answer === undefined) throw new Error(`the fake leader does not know ${operation}`)
    return (answer as unknown as (input: Input<Op>) => Result<Op> | Promise<Result<Op>>)(input)
  }

  readonly #usual: Operations = {
    'host.status': () => ({
      rootId: 'f'.repeat(64),
      hostEpoch: 'epoch-1',
      state: 'ready',
      connections: this.#connections.size,
      activeTurns: this.activeTurns,
      uptimeMs: 61_000,
      version: '0.1.0',
      protocol: { min: 1, max: 1 },
      faults: [],
    }),
    'host.shutdown': () => {
      this.endAll()
      return {}
    },
    'root.verify': () => ({ sessions: this.sessions.size, records: 3, documents: 1, faults: [] }),
    'session.create': input => {
      const { sessionId, cwd, backend, title = '', collaborationMode = 'agent' } = input
      return { session: this.addSession(sessionId, { cwd, backend, title, collaborationMode }).projection.session }
    },
    'session.get': ({ sessionId }) => ({ session: this.session(sessionId).projection.session }),
    'session.list': () => ({
      kind: 'page',
      sessions: [...this.sessions.values()].map(({ projection }) => projection.session),
      nextCursor: null,
    }),
    'session.update': ({ sessionId, patch }) => ({ kind: 'committed', session: this.#change(sessionId, patch) }),
    'session.archive': ({ sessionId }) => ({ session: this.#change(sessionId, { isArchived: true }) }),
    'session.unarchive': ({ sessionId }) => ({ session: this.#change(sessionId, { isArchived: false }) }),
    'turn.start': ({ sessionId, turnId, content }) => ({
      kind: 'started',
      turn: this.session(sessionId).start(turnId, content.text),
    }),
    'turn.query': ({ sessionId, turnId }) => {
      const turn = this.session(sessionId).turns.get(turnId)
      if (turn === undefined) throw refusal('not_found', `no turn ${turnId}`)
      return turn
    },
    'turn.stop': ({ sessionId }) => this.session(sessionId).cancel('user_stop'),
    'turn.interrupt': ({ sessionId }) => {
      const session = this.session(sessionId)
      const { queue } = session.projection
      const turn = 'terminalEventId' in session.turn ? session.turn : session.cancel('user_stop')
      return { queueRevision: queue.queueRevision, retracted: [...queue.steering, ...queue.followup], turn }
    },
    'turn.message.submit': ({ sessionId, messageId, content, placement }) => {
      const session = this.session(sessionId)
      const isBusy = session.projection.rootTurn !== null && !('terminalEventId' in session.projection.rootTurn)
      if (!isBusy) return { disposition: 'turn_started', turnId: session.start(`t-${messageId}`, content.text).turnId }
      return { disposition: placement === 'current_turn' ? 'steering' : 'followup', queueRevision: 1 }
    },
    'queue.edit': ({ sessionId, entryId, content }) => this.#changeEntry(sessionId, entryId, { content }),
    'queue.remove': ({ sessionId, entryId }) => this.#changeEntry(sessionId, entryId, {}),
    'queue.move': ({ sessionId, entryId }) => this.#changeEntry(sessionId, entryId, {}),
    'queue.promote': ({ sessionId, entryId }) => this.#changeEntry(sessionId, entryId, { placement: 'current_turn' }),
    'queue.retract': ({ sessionId }) => {
      const { queue } = this.session(sessionId).projection
      return { queueRevision: queue.queueRevision + 1, retracted: [...queue.steering, ...queue.followup] }
    },
    'queue.resume': ({ sessionId }) => ({ queueRevision: this.session(sessionId).projection.queue.queueRevision + 1 }),
    'interaction.list': () => ({ interactions: this.#pending(), nextCursor: null }),
    'interaction.query': ({ interactionId }) => {
      const found = this.#pending().find(each => each.interactionId === interactionId)
      if (found === undefined) throw refusal('not_found', `no interaction ${interactionId}`)
      return found
    },
    'interaction.answer': ({ interactionId, answer }) => {
      const open = this.#pending().find(each => each.interactionId === interactionId)
      if (open === undefined) throw refusal('already_resolved')
      const by = { surface: 'run', clientInstanceId: 'client-1' }
      return this.session(open.sessionId).answer(interactionId, { kind: 'answer', answer, by, at: 1 })
    },
    'ledger.page': ({ sessionId, after = 0, limit }) => {
      const records = this.session(sessionId).records.filter(({ revision }) => revision > after)
      const page = records.slice(0, Math.min(limit, 2))
      const nextAfter = page.length < records.length ? (page.at(-1)?.revision ?? null) : null
      return { records: page as unknown as Result<'ledger.page'>['records'], nextAfter }
    },
    'transcript.page': ({ sessionId, before = Number.POSITIVE_INFINITY, limit }) => {
      const older = this.session(sessionId).entries.filter(({ seq }) => seq < before)
      const entries = older.slice(-Math.min(limit, 3))
      return {
        entries,
        firstSeq: entries[0]?.seq ?? 0,
        lastSeq: entries.at(-1)?.seq ?? 0,
        hasMore: entries.length < older.length,
      }
    },
  }

  #pending() {
    return [...this.sessions.values()].flatMap(({ projection }) => projection.interactions.pending)
  }

  #change(sessionId: string, patch: Partial<SessionHeader>): SessionHeader {
    const session = this.session(sessionId)
    const header = { ...session.projection.session, ...patch }
    session.step({ events: [{ type: 'session_updated', payload: { patch } }], change: { session: header } })
    return header
  }

  #changeEntry(sessionId: string, entryId: string, patch: Partial<QueueEntry>) {
    const { queue } = this.session(sessionId).projection
    const entry = [...queue.steering, ...queue.followup].find(each => each.entryId === entryId)
    if (entry === undefined) throw refusal('already_delivered')
    return { queueRevision: queue.queueRevision + 1, entry: { ...entry, ...patch, revision: entry.revision + 1 } }
  }
}

/** A refusal as the replica's library throws it. */
export function refusal(code: ErrorCode, message: string = code, detail?: unknown): ReplicaOperationError {
  return new ReplicaOperationError(code, message, detail)
}

/** One client's connection to the fake leader. */
class FakeConnection {
  readonly rootId = 'f'.repeat(64)
  readonly hostEpoch = 'epoch-1'
  readonly closed: Promise<void>
  readonly #leader: FakeLeader
  readonly #listeners = new Set<(freshness: Freshness) => void>()
  readonly #ends = new Set<() => void>()
  #settleClosed: () => void = () => {}

  constructor(leader: FakeLeader) {
    this.#leader = leader
    this.closed = new Promise(resolve => {
      this.#settleClosed = resolve
    })
  }

  get freshness(): Freshness {
    return this.#leader.freshness
  }

  on(_event: string, listener: (freshness: Freshness) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  freshnessChanged(freshness: Freshness): void {
    for (const listener of this.#listeners) listener(freshness)
  }

  status() {
    return this.#leader.request('host.status', {})
  }

  request<Op extends OperationName>(operation: Op, input: Input<Op>): Promise<Result<Op>> {
    return this.#leader.request(operation, input)
  }

  createSession = (input: Input<'session.create'>) => this.request('session.create', input)
  startTurn = (input: Input<'turn.start'>) => this.request('turn.start', input)
  stopTurn = (input: Input<'turn.stop'>) => this.request('turn.stop', input)
  queryTurn = (input: Input<'turn.query'>) => this.request('turn.query', input)
  submitMessage = (input: Input<'turn.message.submit'>) => this.request('turn.message.submit', input)
  answerInteraction = (input: Input<'interaction.answer'>) => this.request('interaction.answer', input)

  transcript(sessionId: string, { before, limit = 100 }: { before?: number; limit?: number } = {}) {
    return this.request('transcript.page', { sessionId, limit, ...(before === undefined ? {} : { before }) })
  }

  async openSessionSubscription({ sessionId }: { sessionId: string }): Promise<SessionSubscription> {
    const session = this.#leader.session(sessionId)
    const leader = this.#leader
    const frames: SubscriptionFrame[] = []
    const changes = new Set<() => void>()
    let wake = () => {}
    let isEnded = false
    const take = (frame: SubscriptionFrame) => {
      frames.push(frame)
      for (const change of changes) change()
      wake()
    }
    session.frameListeners.add(take)
    this.#ends.add(() => {
      isEnded = true
      wake()
    })
    async function* iterate(): AsyncGenerator<SubscriptionFrame> {
      for (;;) {
        for (const frame of frames.splice(0)) yield frame
        if (isEnded) throw new ReplicaSubscriptionError('connection_closed')
        await new Promise<void>(resolve => {
          wake = resolve
        })
      }
    }
    const first = session.projection
    return {
      hostEpoch: first.hostEpoch,
      snapshot: first,
      get current() {
        return session.projection
      },
      get freshness() {
        return leader.freshness
      },
      aside: null,
      onChange(listener: () => void) {
        changes.add(listener)
        return () => void changes.delete(listener)
      },
      [Symbol.asyncIterator]: iterate,
      close: async () => void session.frameListeners.delete(take),
    } as unknown as SessionSubscription
  }

  retryNow(): void {}

  /** The leader has gone for good. */
  end(): void {
    for (const end of this.#ends) end()
    this.#settleClosed()
  }

  async close(): Promise<void> {
    this.end()
  }
}
