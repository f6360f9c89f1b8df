/**
 * When the same command may be sent again:
 * `never`: it will be refused again; `changed`: after reading the current state and changing the command;
 * `later`: unchanged, after a while; `same_identity`: unchanged and under the same identity, to learn the outcome.
 */
export type RetryClass = 'never' | 'changed' | 'later' | 'same_identity'

interface ErrorRow {
  readonly meaning: string
  readonly retry: RetryClass
  readonly http: number
  readonly exit: number
  /** False for codes that never travel: they arise in the process that reports them. */
  readonly wire: boolean
}

function wire(meaning: string, retry: RetryClass, http: number, exit = 3): ErrorRow & { readonly wire: true } {
  return { meaning, retry, http, exit, wire: true }
}

function local(meaning: string, retry: RetryClass, exit = 3): ErrorRow & { readonly wire: false } {
  return { meaning, retry, http: 500, exit, wire: false }
}

/** The one table of errors: code, meaning, retry class, HTTP status, exit code. Source: W5, interfaces 4 and 5. */
export const ERRORS = {
  host_not_ready: wire('The leader is still starting or recovering; try again in a moment.', 'later', 503),
  host_draining: wire('The leader is stopping; connect again to its successor.', 'later', 503),
  unauthorized: wire('The credential is missing or wrong for this data root.', 'never', 401, 4),
  not_found: wire('There is nothing under this id.', 'never', 404),
  session_archived: wire('The session is archived; unarchive it first.', 'changed', 409),
  session_busy: wire('The session is busy with a turn, its queue or an open interaction.', 'later', 409),
  session_damaged: wire(
    'The session is damaged and read-only; run `headwater verify`, then `headwater doctor`.',
    'never',
    423,
  ),
  queue_full: wire('The queue is full; wait for the run to take entries, or take some back.', 'later', 409),
  already_delivered: wire('The entry was already delivered to the run.', 'never', 409),
  operation_conflict: wire(
    'The identity was used for something else, or the state has moved on; read it again.',
    'changed',
    409,
  ),
  already_resolved: wire('The interaction was already settled.', 'never', 409),
  invalid_request: wire('The request does not fit its schema; the message names the first fault.', 'changed', 400, 3),
  rate_limited: wire('Too many requests; slow down.', 'later', 429),
  persistence_failed: wire('The command was not stored; nothing changed. It may be sent again.', 'same_identity', 500),
  storage_full: wire('The disk is full; reading goes on, writing resumes by itself when there is space.', 'later', 507),
  outcome_unknown: wire(
    'It is not known whether the command was stored; ask again under the same identity.',
    'same_identity',
    503,
    10,
  ),
  incompatible: wire('The two sides speak no common protocol version; upgrade the older one.', 'never', 426, 6),
  storage_fault: wire('The storage failed; the leader is read-only until it is restarted.', 'later', 503),
  root_regressed: wire(
    'The data root is older than what was acknowledged; read-only until `headwater doctor --accept-regression`.',
    'never',
    503,
  ),
  too_large: wire('The request or its answer is over a limit.', 'changed', 413),
  root_not_empty: wire('The directory has files in it; choose a missing or empty one.', 'changed', 409),
  forbidden: wire('The credential may only watch.', 'never', 403, 4),
  internal_failure: wire('The leader failed in an unforeseen way; its log says more.', 'same_identity', 500, 1),
  offline: local('There is no live connection to the leader; nothing was sent.', 'later', 5),
  unreachable: local('No leader answers for this data root.', 'later', 5),
  timeout: local('The time limit passed; what was started goes on.', 'same_identity', 124),
  root_owned: local('Another leader owns this data root; connect to it instead.', 'later'),
  root_identity_changed: local(
    'The data root was moved or copied; run `headwater doctor --adopt`, with `--as-copy` for a copy.',
    'changed',
  ),
  root_name_taken: local('The root is free but its name is held by another process.', 'later'),
  path_too_long: local(
    'The path of the socket is too long for this system; use a shorter root or runtime directory.',
    'changed',
  ),
  invalid_lease: local('The root owner or reader was already closed.', 'never'),
  ownership_lost: local(
    'The data root was lost while the leader was running; it stopped without another write.',
    'never',
    12,
  ),
  port_busy: local('The port of this data root is in use; choose another one with --port.', 'changed'),
} as const satisfies Record<string, ErrorRow>

/** A code of the table. */
export type ErrorCode = keyof typeof ERRORS

/** Codes that may stand in a reply. */
export type WireErrorCode = { [C in ErrorCode]: (typeof ERRORS)[C]['wire'] extends true ? C : never }[ErrorCode]

/** Exit codes of the command line. Source: interfaces 5. */
export const EXIT_CODES = {
  ok: 0,
  unexpected: 1,
  usage: 2,
  refused: 3,
  unauthorized: 4,
  unreachable: 5,
  incompatible: 6,
  input_needed: 7,
  turn_failed: 8,
  turn_interrupted: 9,
  outcome_unknown: 10,
  damage_found: 11,
  ownership_lost: 12,
  timeout: 124,
  sigint: 130,
  sigterm: 143,
} as const

/**
 * An expected failure that has to be thrown (across a promise or out of a constructor).
 * `detail` carries what the receiver needs to go on, as plain JSON: the active turn, the current revision, the path of a fault.
 */
export class HeadwaterError extends Error {
  readonly code: ErrorCode
  readonly detail: Readonly<Record<string, unknown>> | undefined

  constructor(code: ErrorCode, message?: string, detail?: Readonly<Record<string, unknown>>) {
    super(message ?? ERRORS[code].meaning)
    this.name = 'HeadwaterError'
    this.code = code
    this.detail = detail
  }
}

/** True for a HeadwaterError, also one from another copy of the package. */
export function isHeadwaterError(error: unknown): error is HeadwaterError {
  return (
    error instanceof Error && 'code' in error && typeof error.code === 'string' && Object.hasOwn(ERRORS, error.code)
  )
}
