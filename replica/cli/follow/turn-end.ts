import type { TurnSnapshot } from '../../../schema/entities/turn.ts'
import { EXIT_CODES } from '../../../schema/errors.ts'
import { endWords } from '../../view/words.ts'
import { CliFailure } from '../failure.ts'

/** How a turn stands, in words. */
export function turnLine(turn: TurnSnapshot): string {
  switch (turn.status) {
    case 'admitted':
      return `turn ${turn.turnId} waits for its start`
    case 'running':
      return `turn ${turn.turnId} is running`
    case 'waiting_for_user':
      return `turn ${turn.turnId} waits for an answer`
    case 'completed':
      return 'turn completed'
    case 'failed':
      return `turn failed: ${endWords(turn)}`
    case 'cancelled':
      return `turn cancelled: ${endWords(turn)}`
    default:
      return turn satisfies never
  }
}

/** The exit code of a turn that has ended. Source: interfaces 5. */
export function turnExitCode(turn: TurnSnapshot): number {
  if (turn.status === 'completed') return EXIT_CODES.ok
  return turn.status === 'failed' ? EXIT_CODES.turn_failed : EXIT_CODES.turn_interrupted
}

/** The failure of a turn that ended otherwise than completed. */
export function turnFailure(turn: TurnSnapshot): CliFailure | undefined {
  const next = `headwater session show ${turn.sessionId}`
  if (turn.status === 'failed') {
    return new CliFailure('turn_failed', `The turn failed: ${endWords(turn)}`, { detail: turn, next })
  }
  if (turn.status === 'cancelled') {
    return new CliFailure('turn_interrupted', `The turn was cancelled: ${endWords(turn)}.`, { detail: turn, next })
  }
  return undefined
}
