import type { Fault, HostState } from '../../schema/commands/host.ts'
import type { ClientActor } from '../../schema/entities/primitives.ts'
import type { WireError } from '../../schema/wire/frames.ts'

/** Who asks. `scope` 'watch' may only read. */
export interface Caller {
  readonly actor: ClientActor
  readonly connectionId: string
  readonly scope: 'full' | 'watch'
}

/** A reply ready to be framed; it is durable when the promise that carries it resolves. Source: A2. */
export type Reply =
  | { readonly ok: true; readonly result: unknown; readonly revision?: number }
  | { readonly ok: false; readonly error: WireError }

/** One socket that follows a document. Messages are whole y-websocket messages. */
export interface DocumentSubscriber {
  readonly connectionId: string
  readonly surface: string
  readonly clientInstanceId: string
  /** Queues one binary message; never throws. The transport bounds, drops and corks. Source: V10. */
  send(message: Uint8Array): void
  close(code: number, reason: string): void
}

/** A socket's place in a room. */
export interface DocumentMembership {
  /** A client asked for what it lacks. The answer is sent when its revision is durable. Source: V13. */
  syncStep1(stateVector: Uint8Array): void
  queryAwareness(): void
  /** The transport dropped this socket's backlog and it has drained: send the newest whole state. Source: V10. */
  resync(): void
  leave(): void
}

/** How a client wants to follow a document. */
export interface JoinRequest {
  /** The generation the client holds; absent for a stock provider or an empty document. */
  readonly generation?: string
}

/** A place in the room, or the close code and reason for the socket. */
export type JoinOutcome =
  | { readonly kind: 'joined'; readonly membership: DocumentMembership }
  | { readonly kind: 'refused'; readonly closeCode: number; readonly reason: string }

/** The leader as the transport sees it. */
export interface HostPort {
  readonly rootId: string
  readonly hostEpoch: string
  readonly state: HostState
  /** Runs one operation; validates its input; never throws. `onProgress` is for long requests. */
  execute(
    operation: string,
    input: unknown,
    caller: Caller,
    onProgress?: (progress: Readonly<Record<string, unknown>>) => void,
  ): Promise<Reply>
  joinSession(sessionId: string, request: JoinRequest, subscriber: DocumentSubscriber): Promise<JoinOutcome>
  joinCatalog(request: JoinRequest, subscriber: DocumentSubscriber): Promise<JoinOutcome>
  /** Stores bytes by their hash (L5); refuses with an error code as a Reply. */
  putArtifact(bytes: AsyncIterable<Uint8Array>, mimeType: string): Promise<Reply>
  readArtifact(
    hash: string,
  ): Promise<{ bytes: number; mimeType: string; pieces: AsyncIterable<Uint8Array> } | undefined>
  readonly faults: readonly Fault[]
  /** Words for `/readyz`, without anything about sessions. */
  readonly readiness: string
}
