import { useCallback, useSyncExternalStore } from 'react'
import type { Readable } from '../../react/types.ts'

/** The value of a readable now, and again whenever it changes. */
export function useReadable<T>(readable: Readable<T>): T {
  const subscribe = useCallback((listener: () => void) => readable.subscribe(listener), [readable])
  const snapshot = useCallback(() => readable.getSnapshot(), [readable])
  return useSyncExternalStore(subscribe, snapshot, snapshot)
}
