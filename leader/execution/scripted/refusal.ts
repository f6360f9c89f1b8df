import { isHeadwaterError } from '../../../schema/errors.ts'
import type { RunContext } from '../backend.ts'

const TOLD: ReadonlySet<string> = new Set(['operation_conflict', 'too_large'])

/** Does what the script says; where the session refuses it, the reply tells why. Everything else fails the run. */
export async function reportRefusal(run: RunContext, play: () => Promise<void>): Promise<void> {
  try {
    await play()
  } catch (error) {
    if (!isHeadwaterError(error) || !TOLD.has(error.code)) throw error
    await run.text(`refused: ${error.message}`)
  }
}
