/** Bytes per step of a scan: one step for nearly every document. */
export const SCAN_STEP_BYTES = 1024 * 1024
/** Entries per step of a scan. */
export const SCAN_STEP_ENTRIES = 1_000

interface Source<T> {
  nextv(size: number): Promise<T[]>
  close(): Promise<void>
}

/** Everything an iterator has; it is closed in any case. */
export async function drain<T>(source: Source<T>): Promise<T[]> {
  try {
    const all: T[] = []
    for (;;) {
      const some = await source.nextv(SCAN_STEP_ENTRIES)
      if (some.length === 0) return all
      for (const entry of some) all.push(entry)
    }
  } finally {
    await source.close()
  }
}
