import type { Fault } from '../../schema/commands/host.ts'
import type { Input, Result } from '../../schema/commands/index.ts'
import { HeadwaterError } from '../../schema/errors.ts'
import { LIMITS } from '../../schema/limits.ts'
import { writeBackup } from '../backup/write-backup.ts'
import type { RootCapability } from '../log/root/resolve.ts'
import type { Store } from '../log/store.ts'
import { verifyRoot } from '../verify/verify-root.ts'

/** Tells whoever asked how far a long operation is. */
export type TellProgress = (progress: Readonly<Record<string, unknown>>) => void

/** Passes on what is told, at most ten times a second. */
function atTimes(tell: TellProgress | undefined): TellProgress {
  let toldAtMs = Number.NEGATIVE_INFINITY
  return progress => {
    const nowMs = performance.now()
    if (tell === undefined || nowMs - toldAtMs < LIMITS.verifyProgressMs) return
    toldAtMs = nowMs
    tell(progress)
  }
}

/** Checks the root as it is now, while it is being written. Source: D2. */
export async function verifyNow(store: Store, tell?: TellProgress): Promise<Result<'root.verify'>> {
  const reader = await store.freeze()
  try {
    const onProgress = atTimes(tell)
    const walk = verifyRoot(reader, progress => onProgress({ ...progress }))
    const faults: Fault[] = []
    for (;;) {
      const step = await walk.next()
      // Faults of reading would be taken for damage.
      if (!reader.isOpen) throw new HeadwaterError('storage_fault', 'the storage failed during the check; check again')
      if (step.done) return { ...step.value, faults }
      if (faults.length < LIMITS.verifyFaults) faults.push(step.value)
    }
  } finally {
    await reader.close()
  }
}

/** Backs the root up as it is now, while it is being written. Source: D3. */
export async function backUpNow(
  parts: { readonly root: Pick<RootCapability, 'path' | 'rootId'>; readonly store: Store },
  { path }: Input<'root.backup'>,
  tell?: TellProgress,
): Promise<Result<'root.backup'>> {
  const source = await parts.store.freeze()
  try {
    const onProgress = atTimes(tell)
    const { records, bytes } = await writeBackup({
      root: parts.root,
      source,
      path,
      now: Date.now(),
      onProgress: progress => onProgress({ ...progress }),
    })
    return { path, records, bytes }
  } finally {
    await source.close()
  }
}
