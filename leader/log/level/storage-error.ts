import { HeadwaterError } from '../../../schema/errors.ts'

/** What kind of failure LevelDB reported. `missing`: there is no database, or a part of it is gone. */
export type StorageErrorKind = 'full' | 'locked' | 'corruption' | 'missing' | 'io' | 'other'

/** The kind of an error of LevelDB or of the file system, looking into its causes. */
export function storageErrorKind(error: unknown): StorageErrorKind {
  const texts: string[] = []
  const codes = new Set<unknown>()
  for (let cause = error, depth = 0; cause instanceof Error && depth < 4; cause = cause.cause, depth += 1) {
    texts.push(cause.message)
    codes.add('code' in cause ? cause.code : undefined)
  }
  const text = texts.join('\n')
  if (codes.has('ENOSPC') || codes.has('EDQUOT')) return 'full'
  if (/no space left on device|not enough space on the disk|quota exceeded/i.test(text)) return 'full'
  if (codes.has('LEVEL_LOCKED')) return 'locked'
  if (/does not exist \(create_if_missing|no such file or directory/i.test(text)) return 'missing'
  if (codes.has('LEVEL_CORRUPTION')) return 'corruption'
  return codes.has('LEVEL_IO_ERROR') ? 'io' : 'other'
}

/** A storage failure as `storage_fault`, its kind in the detail. */
export function storageFault(error: unknown, doing: string): HeadwaterError {
  const reason = deepestMessage(error)
  const fault = new HeadwaterError('storage_fault', `${doing} failed: ${reason}`, {
    kind: storageErrorKind(error),
    reason,
  })
  fault.cause = error
  return fault
}

function deepestMessage(error: unknown): string {
  let cause = error
  for (let depth = 0; cause instanceof Error && cause.cause instanceof Error && depth < 4; depth += 1)
    cause = cause.cause
  return cause instanceof Error ? cause.message : String(cause)
}
