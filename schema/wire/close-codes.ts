/**
 * WebSocket close codes. 4400–4499: stop, the application must act; 4500–4599: connect again, with `retryAfterMs` in the reason.
 * Source: W2, W6, V1, V6.
 */
export const CLOSE_CODES = {
  /** The peer said goodbye and was confirmed. */
  normal: 1000,
  /** A frame that is not JSON, a text frame on a document, a torn or unknown document message. */
  malformed: 1007,
  /** More commands in flight than allowed, or a requestId that is in flight already. */
  too_many_in_flight: 1008,
  /** A frame or state vector over its limit. */
  too_large: 1009,
  /** No credential, a wrong proof or a revoked credential. */
  unauthorized: 4401,
  /** A replica tried to write a document. */
  read_only: 4403,
  /** There is no such session, or it was removed. */
  not_found: 4404,
  /** The session cannot be read; `headwater verify` says more. */
  damaged: 4423,
  /** No common protocol version. */
  incompatible: 4406,
  /** Too many sync requests. */
  rate_limited: 4408,
  /** This copy of the document is of another build or ahead of the leader: join again with an empty document. */
  other_generation: 4410,
  /** The leader is stopping. */
  draining: 4500,
  /** The hello did not come in time. */
  hello_timeout: 4501,
  /** The socket stayed blocked, or its backlog grew over the limit. */
  slow_consumer: 4502,
  /** The document is being loaded again after a storage error. */
  reloading: 4503,
} as const

/** The name of a close code. */
export type CloseName = keyof typeof CLOSE_CODES

/** What a replica does after a close: `rejoin` with an empty document, `stop`, or `retry` with back-off. */
export function closeReaction(code: number): 'stop' | 'rejoin' | 'retry' {
  if (code === CLOSE_CODES.other_generation) return 'rejoin'
  if (code === CLOSE_CODES.rate_limited) return 'retry'
  if (code >= 4400 && code <= 4499) return 'stop'
  return 'retry'
}

/** The reason text of a retry close: JSON, within the 123 bytes a close frame holds. */
export function retryReason(name: CloseName, retryAfterMs: number): string {
  return JSON.stringify({ reason: name, retryAfterMs })
}

/** `retryAfterMs` of a close reason, or undefined where there is none. */
export function readRetryAfterMs(reason: string): number | undefined {
  try {
    const value = (JSON.parse(reason) as { retryAfterMs?: unknown } | null)?.retryAfterMs
    return typeof value === 'number' && value >= 0 ? value : undefined
  } catch {
    return undefined
  }
}
