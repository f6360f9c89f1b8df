import { LIMITS } from '../../../schema/limits.ts'

/** How fast attempts follow each other: while a leader is being started, or while one is awaited again. */
export type Pace = 'start' | 'reconnect'

const PACES = {
  start: { firstMs: LIMITS.spawnRetryFirstMs, capMs: LIMITS.spawnRetryCapMs },
  reconnect: { firstMs: LIMITS.reconnectFirstMs, capMs: LIMITS.reconnectCapMs },
} as const

/** The longest wait before attempt `attempt` (counted from 0): doubles from the first one up to the cap. Unit: ms. */
export function backOffCeilingMs(pace: Pace, attempt: number): number {
  const { firstMs, capMs } = PACES[pace]
  return Math.min(capMs, firstMs * 2 ** Math.min(attempt, 30))
}

/**
 * The wait before an attempt, with full jitter: `random` in [0, 1) picks from zero to the ceiling, on top of what the leader asked for.
 * Unit: ms. Source: E3, V9, W6.
 */
export function backOffMs(options: { pace: Pace; attempt: number; random: number; atLeastMs: number }): number {
  return options.atLeastMs + options.random * backOffCeilingMs(options.pace, options.attempt)
}
