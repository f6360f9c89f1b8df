import type { LinkState, Readable, ReplicaStore, SessionView } from '../../../replica/react/types.ts'
import { EMPTY_TASKS_REVISION, type SessionProjection } from '../../../schema/entities/projection.ts'

const LIVE = { state: 'live', asOf: 1 } as const

/** A value that is set by hand. */
class Held<T> implements Readable<T> {
  readonly #listeners = new Set<() => void>()
  #value: T

  constructor(value: T) {
    this.#value = value
  }

  readonly getSnapshot = (): T => this.#value
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  set(value: T): void {
    this.#value = value
    for (const listener of this.#listeners) listener()
  }
}

/** One session that a screen shows, with what of it a test wants to say; it has no leader and takes no commands. */
export class SessionStage {
  readonly sessionId = 'staged'
  readonly #link = new Held<LinkState>({ kind: 'connected', freshness: LIVE })
  readonly #view = new Held<SessionView>({
    projection: emptyProjection(this.sessionId),
    freshness: LIVE,
    aside: null,
    failure: null,
  })

  /** What of a store is there: the session and the connection's state. */
  get store(): ReplicaStore {
    const session = this.#view
    return { link: this.#link, session: () => session, connection: null } as unknown as ReplicaStore
  }

  get projection(): SessionProjection {
    return this.#view.getSnapshot().projection as SessionProjection
  }

  /** Changes parts of the session. */
  set(change: Partial<SessionProjection>): void {
    this.#view.set({ ...this.#view.getSnapshot(), projection: { ...this.projection, ...change } })
  }

  /** The connection is lost; what was seen stays. */
  lose(): void {
    const freshness = { state: 'offline', asOf: 1 } as const
    this.#link.set({ kind: 'lost', freshness, since: 1, reason: 'gone' })
    this.#view.set({ ...this.#view.getSnapshot(), freshness })
  }
}

function emptyProjection(sessionId: string): SessionProjection {
  return {
    session: {
      sessionId,
      title: 'Staged',
      titleIsManual: false,
      cwd: '/',
      backend: 'scripted',
      permissionMode: 'ask',
      collaborationMode: 'agent',
      status: 'idle',
      isArchived: false,
      createdAt: 1,
      lastActivityAt: 1,
      revision: 1,
    },
    hostEpoch: 'epoch-1',
    generation: 'generation-1',
    revision: 1,
    projectionRevision: 1,
    rootTurn: null,
    queue: { hostEpoch: 'epoch-1', queueRevision: 0, steering: [], followup: [], parked: null },
    interactions: { pending: [] },
    plan: { storeVersion: 0, latestProposal: null, activeExecution: null, lastExecution: null, agentPlan: null },
    tasks: { revision: EMPTY_TASKS_REVISION, items: [] },
    transcript: { entries: [], firstSeq: 0, lastSeq: 0, hasMore: false },
    presence: [],
    presenceCount: 0,
  }
}
