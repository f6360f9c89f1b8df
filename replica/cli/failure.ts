import { ERRORS, type ErrorCode, EXIT_CODES, type RetryClass } from '../../schema/errors.ts'

/** Codes of failures that only the command line has; the others are those of `schema/errors.ts`. */
export type CliCode = keyof typeof EXIT_CODES

interface FailureDetails {
  /** What the receiver needs to go on, as plain JSON. */
  readonly detail?: unknown
  /** The next step for a person, a command where there is one. */
  readonly next?: string
  /** An example of right use, for usage errors. */
  readonly example?: string
}

/** A command ends with this: a code, a sentence, an exit code, and what to do next. */
export class CliFailure extends Error {
  readonly code: ErrorCode | CliCode
  readonly exitCode: number
  readonly retry: RetryClass
  readonly detail: unknown
  readonly next: string | undefined
  readonly example: string | undefined

  constructor(code: ErrorCode | CliCode, message?: string, details: FailureDetails = {}) {
    super(message ?? (isErrorCode(code) ? ERRORS[code].meaning : code))
    this.name = 'CliFailure'
    this.code = code
    this.exitCode = exitCodeOf(code)
    this.retry = isErrorCode(code) ? ERRORS[code].retry : 'changed'
    this.detail = details.detail
    this.next = details.next
    this.example = details.example
  }
}

/** The exit code of a failure's code. Source: interfaces 5. */
export function exitCodeOf(code: ErrorCode | CliCode): number {
  return isErrorCode(code) ? ERRORS[code].exit : EXIT_CODES[code]
}

/** True for a code of the error table. */
export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(ERRORS, code)
}

/** A usage error: exit 2. */
export function usage(message: string, example?: string): CliFailure {
  return new CliFailure('usage', message, example === undefined ? {} : { example })
}

/** True where the operating system forbade it, also as the cause of a failure of ours. */
export function isForbidden(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code, detail } = error as Error & { readonly code?: unknown; readonly detail?: { readonly errno?: unknown } }
  const errno = code === 'storage_fault' ? detail?.errno : code
  if (errno === 'EACCES' || errno === 'EPERM') return true
  return code === 'storage_fault' && /permission denied/i.test(error.message)
}

/** Whatever was thrown, as a failure: refusals keep their code, anything unforeseen is `unexpected`. */
export function toFailure(error: unknown): CliFailure {
  if (error instanceof CliFailure) return error
  if (error instanceof Error && 'code' in error && isErrorCode(error.code)) {
    const detail = 'detail' in error ? error.detail : 'path' in error && error.path ? { path: error.path } : undefined
    return new CliFailure(error.code, error.message, { detail })
  }
  if (error instanceof Error && error.name === 'ReplicaSubscriptionError') {
    const code = 'reason' in error && error.reason === 'session_removed' ? 'not_found' : 'unreachable'
    return new CliFailure(code, code === 'not_found' ? 'The session was removed.' : undefined)
  }
  if (isForbidden(error)) {
    const { message, path } = error as Error & { readonly path?: string }
    return new CliFailure('storage_fault', `This user may not use the data root: ${message}`, {
      detail: path === undefined ? undefined : { path },
      next: 'headwater doctor',
    })
  }
  const message = error instanceof Error ? error.message : String(error)
  return new CliFailure('unexpected', message === '' ? 'Something went wrong.' : message, {
    detail: error instanceof Error ? { stack: error.stack } : undefined,
  })
}
