import type { RunContext } from '../backend.ts'
import { type ElapsedClock, pause } from '../clock.ts'

const DELTA_CHARACTERS = 9

/** Between one step of a script and the next: deltas, changes of tasks, steps of a plan. */
export const STEP_INTERVAL_MS = 45

/**
 * Streams a text in pieces of at most 9 characters every 45 ms. Steering is pulled between any two pieces and once at the end; each
 * steer is acknowledged and its text goes on the end of the reply. Source: F, Q5.
 */
export async function streamReply(run: RunContext, text: string, clock: ElapsedClock): Promise<void> {
  const pieces = [...splitCharacters(text)]
  for (let i = 0; ; i++) {
    const piece = pieces[i]
    if (piece !== undefined) await Promise.all([run.text(piece), pause(clock, STEP_INTERVAL_MS, run.signal)])
    const steers = await takeSteering(run)
    for (const steer of steers) pieces.push(...splitCharacters(steer))
    if (piece === undefined && steers.length === 0) return
  }
}

/** Pulls and acknowledges what waits; gives it as the reply shows it. */
export async function takeSteering(run: RunContext): Promise<readonly string[]> {
  const steers = await run.pullSteering()
  if (steers.length === 0) return []
  await run.ack(steers.map(steer => steer.entryId))
  return steers.map(steer => `\n\nsteered: ${steer.content.text}`)
}

function* splitCharacters(text: string): Generator<string> {
  let piece = ''
  let count = 0
  for (const character of text) {
    piece += character
    count += 1
    if (count < DELTA_CHARACTERS) continue
    yield piece
    piece = ''
    count = 0
  }
  if (piece !== '') yield piece
}
