import type { Input } from '../../../schema/commands/index.ts'
import { type DecideContext, type Decision, refuse } from '../decision.ts'
import type { SessionState } from '../state.ts'

/** Source: Q6. */
export function decideHold(_state: SessionState, _input: Input<'queue.hold'>, _context: DecideContext): Decision {
  return refuse('invalid_request', 'not served here')
}
