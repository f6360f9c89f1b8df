import type { Input } from '../../../schema/commands/index.ts'
import { type DecideContext, type Decision, refuse } from '../decision.ts'
import type { SessionState } from '../state.ts'

/** Source: S6. */
export function decideFork(_state: SessionState, _input: Input<'session.fork'>, _context: DecideContext): Decision {
  return refuse('invalid_request', 'not served here')
}
