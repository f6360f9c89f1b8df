const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const

/** The longest duration a timer can hold. Unit: ms. */
const LONGEST_MS = 2_147_483_647

/** A duration as people write it (`500ms`, `30s`, `5m`, `1.5h`) in ms, or undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d{1,10}(?:\.\d{1,3})?)(ms|s|m|h)$/.exec(text)
  if (match === null) return undefined
  const ms = Math.round(Number(match[1]) * UNITS[match[2] as keyof typeof UNITS])
  return ms <= LONGEST_MS ? ms : undefined
}

/** A duration in words for people: `850ms`, `12s`, `3m 20s`, `2h 5m`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))}ms`
  const seconds = Math.floor(ms / 1_000)
  if (seconds < 60) return `${seconds}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes}m` : `${minutes}m ${seconds % 60}s`
  return minutes % 60 === 0 ? `${Math.floor(minutes / 60)}h` : `${Math.floor(minutes / 60)}h ${minutes % 60}m`
}
