import type { Input } from '../../../schema/commands/index.ts'
import { type DecideContext, type Decision, refuse } from '../decision.ts'
import type { SessionState } from '../state.ts'

/** Source: T10. */
export function decideRegenerate(
  _state: SessionState,
  _input: Input<'turn.regenerate'>,
  _context: DecideContext,
): Decision {
  return refuse('invalid_request', 'not served here')
}
