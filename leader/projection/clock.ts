/** Time as rooms and the catalog need it. Tests give a virtual one. Source: W7. */
export interface ProjectionClock {
  /** The leader's clock, for what people read. Unit: ms since the epoch. */
  now(): number
  /** Never goes back; only for durations. Unit: ms. */
  monotonicMs(): number
  /** Runs `task` once after `delayMs`; the returned function cancels it. */
  schedule(delayMs: number, task: () => void): () => void
}

/** The process's own clock. Its timers do not keep the process alive. */
export const systemClock: ProjectionClock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  schedule: (delayMs, task) => {
    const timer = setTimeout(task, delayMs)
    timer.unref()
    return () => clearTimeout(timer)
  },
}
