/** The places where a test may end the leader. Source: F. */
export const CRASH_POINTS = [
  'after_admission',
  'after_run_started',
  'mid_stream',
  'before_terminal',
  'after_terminal',
  'before_batch',
  'after_batch_before_publish',
  'mid_compaction',
  'mid_seal',
  'mid_recovery',
  'mid_delete',
] as const
/** The name of such a place. */
export type CrashPoint = (typeof CRASH_POINTS)[number]

/**
 * The function to call at each point: it kills the process with SIGKILL the n-th time it passes the point that
 * `HEADWATER_CRASH_AT=<point>[:n]` names, if `HEADWATER_TESTING=1` is set too; otherwise it does nothing.
 */
export function crashPoints(env: Readonly<Record<string, string | undefined>>): (point: CrashPoint) => void {
  const wanted = env.HEADWATER_TESTING === '1' ? env.HEADWATER_CRASH_AT : undefined
  if (wanted === undefined) return () => {}
  const [name, count = '1'] = wanted.split(':')
  let left = Number(count)
  return point => {
    if (point !== name) return
    left -= 1
    if (left === 0) process.kill(process.pid, 'SIGKILL')
  }
}
