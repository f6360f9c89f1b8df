import type { CatalogRow, Freshness, SessionProjection } from '../../schema/entities/projection.ts'
import type { TranscriptPage } from '../../schema/entities/transcript.ts'

/** Time as the client sees it: `now` is monotonic, in ms; `after` runs something once and gives back how to cancel it. Source: W7. */
export interface Clock {
  now(): number
  after(delayMs: number, run: () => void): () => void
}

/** What a socket reports; `close` comes exactly once, also when it never opened. */
export interface SocketEvents {
  open(): void
  message(message: string | Uint8Array): void
  close(code: number, reason: string): void
}

/** One WebSocket. After `abort` nothing is reported any more but `close`. */
export interface ClientSocket {
  send(message: string | Uint8Array): void
  close(code: number, reason: string): void
  /** Ends the connection without a closing handshake. */
  abort(): void
}

/** A request with a bounded body; `path` begins with a slash. */
export interface HttpRequest {
  readonly method: 'GET' | 'PUT' | 'POST'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array
}

/** The answer with its whole body, which is bounded. */
export interface HttpAnswer {
  readonly status: number
  readonly body: string
}

/** The answer while its body comes; who does not want the rest ends the iteration. */
export interface HttpDownload {
  readonly status: number
  readonly pieces: AsyncIterable<Uint8Array>
}

/**
 * A leader's address that can be dialled. `address` is `host:port` as dialled: it is part of the proof. `isLocal` is true for a Unix
 * socket or pipe, where the operating system authenticates both sides. `rootId` is given where only this root will do.
 * Source: W1, Z3.
 */
export interface Endpoint {
  readonly address: string
  readonly isLocal: boolean
  readonly rootId?: string
  open(path: string, protocols: readonly string[], events: SocketEvents): ClientSocket
  http(request: HttpRequest): Promise<HttpAnswer>
  /** As `http`, for an answer that is too large to be held: its body is read as it comes. */
  download(request: HttpRequest): Promise<HttpDownload>
}

/** Where a leader is, or why there is none. `isFinal`: looking again will not help. */
export type Located =
  | { readonly kind: 'found'; readonly endpoint: Endpoint }
  | { readonly kind: 'absent'; readonly reason: string; readonly isFinal: boolean }

/** Looks for a leader, and starts one where it may. Rejects never; an abort gives `absent`. Source: E3. */
export type Locate = (request: { readonly maySpawn: boolean; readonly signal: AbortSignal }) => Promise<Located>

/** A key the client can prove to hold without sending it. `sign` gives the HMAC-SHA-256 under the key. Source: Z2, Z3. */
export interface Credential {
  readonly keyId: string
  sign(message: Uint8Array): Promise<Uint8Array>
}

/** Everything the client takes from its surroundings, so that a test can hold it. `random` is in [0, 1). */
export interface Surroundings {
  readonly clock: Clock
  random(): number
  randomBytes(count: number): Uint8Array
  newId(): string
}

/** Where what a connection shows is kept for reading without a leader. Nothing here fails or waits. Source: O1. */
export interface CacheSink {
  session(rootId: string, projection: SessionProjection, freshness: Freshness): void
  catalog(
    rootId: string,
    place: { readonly hostEpoch: string; readonly asOf: number | null },
    rows: readonly CatalogRow[],
  ): void
  /** The session is no more. */
  removed(rootId: string, sessionId: string): void
  /** A page of a session's older history was read. */
  history(
    rootId: string,
    place: { readonly hostEpoch: string; readonly revision: number; readonly sessionId: string },
    page: TranscriptPage,
  ): void
  /** The address that was dialled led to this root. */
  address(address: string, rootId: string): void
  /** Resolves when everything is written. */
  flush(): Promise<void>
}

/** How true a view is, without the time. */
export type FreshnessState = Freshness['state']

/** The surroundings of a running process or page. */
export const realSurroundings: Surroundings = Object.freeze({
  clock: Object.freeze({
    now: () => performance.now(),
    after(delayMs: number, run: () => void): () => void {
      const timer = setTimeout(run, delayMs)
      return () => clearTimeout(timer)
    },
  }),
  random: () => Math.random(),
  randomBytes: (count: number) => crypto.getRandomValues(new Uint8Array(count)),
  newId: () => crypto.randomUUID(),
})
