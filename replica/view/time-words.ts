/** A duration of something that goes on: `0:42`, `12:05`, `1:02:03`. Unit: ms. */
export function clockWords(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000))
  const two = (value: number): string => String(value).padStart(2, '0')
  const minutes = Math.floor(seconds / 60)
  return minutes < 60
    ? `${minutes}:${two(seconds % 60)}`
    : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % 60)}`
}

/** A duration that is over: `12 ms`, `1.2 s`, from a minute on as a clock. Unit: ms. */
export function spanWords(ms: number): string {
  const whole = Math.max(0, Math.round(ms))
  if (whole < 1_000) return `${whole} ms`
  return whole < 60_000 ? `${(Math.floor(whole / 100) / 10).toFixed(1)} s` : clockWords(whole)
}

/** How long ago: `now`, `5m`, `3h`, `2d`, then the date. Both in ms. */
export function agoWords(at: number, now: number): string {
  const minutes = Math.floor(Math.max(0, now - at) / 60_000)
  if (minutes < 1) return 'now'
  if (minutes < 60) return `${minutes}m`
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)}h`
  return minutes < 14 * 24 * 60 ? `${Math.floor(minutes / (24 * 60))}d` : dayWords(at)
}

/** The day of a moment here: `2026-11-30`. Unit: ms. */
export function dayWords(at: number): string {
  const then = new Date(at)
  return `${then.getFullYear()}-${String(then.getMonth() + 1).padStart(2, '0')}-${String(then.getDate()).padStart(2, '0')}`
}

/** The time of day of a moment here: `14:02`. Unit: ms. */
export function timeWords(at: number): string {
  const then = new Date(at)
  return `${String(then.getHours()).padStart(2, '0')}:${String(then.getMinutes()).padStart(2, '0')}`
}

/** The time of day of a moment here, to the second: `14:02:11`. Unit: ms. */
export function secondWords(at: number): string {
  return `${timeWords(at)}:${String(new Date(at).getSeconds()).padStart(2, '0')}`
}
