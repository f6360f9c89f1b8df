import type * as Y from 'yjs'
import type { Input, OperationName, Result } from '../../schema/commands/index.ts'
import type { CatalogRow, Freshness, SessionProjection } from '../../schema/entities/projection.ts'
import type { TranscriptPage } from '../../schema/entities/transcript.ts'
import type { ErrorCode } from '../../schema/errors.ts'

/** How a leader may be started when none runs. */
export interface SpawnOptions {
  /** Program and arguments; default: this package's own `headwater serve`. */
  readonly command?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly idleGraceMs?: number
}

/** Which leader to connect to, as what, and what to do when there is none. `deadlineMs` defaults to 45 000. */
export interface ConnectOptions {
  readonly root?: string
  readonly url?: string
  readonly token?: string
  readonly surface: string
  readonly clientInstanceId?: string
  readonly spawn?: boolean | SpawnOptions
  readonly reconnect?: boolean
  readonly protocol?: { readonly min: number; readonly max: number }
  readonly cache?: boolean | string
  readonly signal?: AbortSignal
  readonly deadlineMs?: number
}

/** The protocols one side speaks, and its version. */
export interface VersionRange {
  readonly min: number
  readonly max: number
  readonly version: string
}

/** A connection to a leader that is ready, or why there is none. */
export type ConnectResult =
  | { readonly kind: 'connected'; readonly connection: LeaderConnection }
  | { readonly kind: 'unavailable'; readonly reason: string }
  | {
      readonly kind: 'incompatible'
      readonly leader: VersionRange
      readonly replica: VersionRange
      /** The leader is older and would have been replaced, but it is at work. Source: M3. */
      readonly busy?: { readonly connections: number; readonly activeTurns: number }
    }
  | { readonly kind: 'unauthorized' }
  | { readonly kind: 'draining' }

/** How long to wait for a reply; giving up waiting cancels nothing. */
export interface RequestOptions {
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
  /** Progress pushes of long requests (`root.verify`). */
  readonly onProgress?: (progress: Readonly<Record<string, unknown>>) => void
}

/** A connection that comes back by itself; commands keep their identity across reconnects. Source: A5, V9. */
export interface LeaderConnection {
  readonly rootId: string
  readonly hostEpoch: string
  readonly freshness: Freshness
  readonly closed: Promise<void>
  on(event: 'freshness', listener: (freshness: Freshness) => void): () => void
  on(event: 'epoch', listener: (hostEpoch: string) => void): () => void
  status(options?: RequestOptions): Promise<Result<'host.status'>>
  request<Op extends OperationName>(operation: Op, input: Input<Op>, options?: RequestOptions): Promise<Result<Op>>
  createSession(input: Input<'session.create'>, options?: RequestOptions): Promise<Result<'session.create'>>
  startTurn(input: Input<'turn.start'>, options?: RequestOptions): Promise<Result<'turn.start'>>
  stopTurn(input: Input<'turn.stop'>, options?: RequestOptions): Promise<Result<'turn.stop'>>
  queryTurn(input: Input<'turn.query'>, options?: RequestOptions): Promise<Result<'turn.query'>>
  submitMessage(input: Input<'turn.message.submit'>, options?: RequestOptions): Promise<Result<'turn.message.submit'>>
  answerInteraction(input: Input<'interaction.answer'>, options?: RequestOptions): Promise<Result<'interaction.answer'>>
  queryPlan(input: Input<'plan.query'>, options?: RequestOptions): Promise<Result<'plan.query'>>
  controlPlan(input: Input<'plan.control'>, options?: RequestOptions): Promise<Result<'plan.control'>>
  startPlanTurn(input: Input<'plan.turn.start'>, options?: RequestOptions): Promise<Result<'plan.turn.start'>>
  queryTasks(input: Input<'task.ledger.query'>, options?: RequestOptions): Promise<Result<'task.ledger.query'>>
  openSessionSubscription(input: { sessionId: string }): Promise<SessionSubscription>
  openCatalog(): Promise<CatalogSubscription>
  transcript(sessionId: string, options?: { before?: number; limit?: number }): Promise<TranscriptPage>
  /** The bytes of an artifact as they come, to be checked against its name. Errors: `not_found`, `offline`. Source: L5. */
  artifact(hash: string): AsyncIterable<Uint8Array>
  /** Tries again at once instead of waiting for the back-off: a user action or a wake signal. Source: V9. */
  retryNow(): void
  close(): Promise<void>
}

/** One thing that happened to a session, in order of its revision. Source: V2, V3. */
export type SubscriptionFrame = {
  readonly sessionId: string
  readonly hostEpoch: string
  readonly revision: number
} & (
  | { readonly kind: 'subscription.session_projection'; readonly snapshot: SessionProjection }
  | { readonly kind: 'subscription.session_delta'; readonly delta: TextDelta }
  | { readonly kind: 'subscription.session_domain_changed'; readonly domain: 'plan' | 'tasks' }
  | { readonly kind: 'subscription.session_resynced'; readonly snapshot: SessionProjection }
  | { readonly kind: 'subscription.closed'; readonly reason: string }
)

/** Streamed text; `startOffset` counts UTF-16 units from the start of the message. Source: V2. */
export interface TextDelta {
  readonly kind: 'text' | 'thinking'
  readonly turnId: string
  readonly runId: string
  readonly messageId: string
  readonly startOffset: number
  readonly text: string
}

/**
 * A session as this replica sees it. `doc` is for reading only. `aside` is there when the leader's data root went back behind what was shown
 * here: the newer projection, read-only, and the leader's time when that was seen. Source: V2, V6.
 */
export interface SessionSubscription extends AsyncIterable<SubscriptionFrame> {
  readonly hostEpoch: string
  readonly snapshot: SessionProjection
  readonly current: SessionProjection
  readonly freshness: Freshness
  readonly aside: { readonly projection: SessionProjection; readonly since: number | null } | null
  onChange(listener: () => void): () => void
  readonly doc: Y.Doc
  close(): Promise<void>
}

/** The list of sessions, kept up to date. Source: S7. */
export interface CatalogSubscription {
  readonly hostEpoch: string
  /** Newest rows, most recently active first; same identity until something changes. */
  readonly current: readonly CatalogRow[]
  readonly freshness: Freshness
  onChange(listener: () => void): () => void
  close(): Promise<void>
}

/** A command was refused, or cannot be settled here. */
export class ReplicaOperationError extends Error {
  readonly code: ErrorCode
  readonly detail: unknown

  constructor(code: ErrorCode, message: string, detail?: unknown) {
    super(message)
    this.name = 'ReplicaOperationError'
    this.code = code
    this.detail = detail
  }
}

/** A subscription ended for good. */
export class ReplicaSubscriptionError extends Error {
  readonly reason: 'connection_closed' | 'session_removed'

  constructor(reason: 'connection_closed' | 'session_removed', message?: string) {
    super(message ?? `the subscription ended: ${reason}`)
    this.name = 'ReplicaSubscriptionError'
    this.reason = reason
  }
}

/** An input does not fit its schema; rejected here, nothing was sent. */
export class ReplicaProtocolError extends Error {
  readonly code = 'invalid_request'
  readonly path: string | undefined

  constructor(message: string, path?: string) {
    super(message)
    this.name = 'ReplicaProtocolError'
    this.path = path
  }
}
