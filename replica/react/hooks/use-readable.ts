import { useCallback, useRef, useSyncExternalStore } from 'react'
import type { Readable } from '../types.ts'

/** The value of a readable now, and again whenever it changes; on a server the value at that moment. */
export function useReadable<T>(readable: Readable<T>): T {
  return useSelected(readable, whole)
}

const whole = <T>(value: T): T => value

/**
 * The selected part of a readable's value, again only when that part changes: by identity, or by `isEqual`. `select` may be another function
 * at every call.
 */
export function useSelected<T, S>(
  readable: Readable<T>,
  select: (value: T) => S,
  isEqual: (a: S, b: S) => boolean = Object.is,
): S {
  const last = useRef<{ readonly selected: S } | null>(null)
  const subscribe = useCallback((listener: () => void) => readable.subscribe(listener), [readable])
  const snapshot = (): S => {
    const selected = select(readable.getSnapshot())
    if (last.current !== null && isEqual(last.current.selected, selected)) return last.current.selected
    last.current = { selected }
    return selected
  }
  return useSyncExternalStore(subscribe, snapshot, snapshot)
}
