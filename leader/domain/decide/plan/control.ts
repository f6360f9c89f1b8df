import type { Input } from '../../../../schema/commands/index.ts'
import { type DecideContext, type Decision, refuse } from '../../decision.ts'
import type { SessionState } from '../../state.ts'

/** Source: P2–P4, P7–P9. */
export function decidePlanControl(
  _state: SessionState,
  _input: Input<'plan.control'>,
  _context: DecideContext,
): Decision {
  return refuse('invalid_request', 'not served here')
}

/** Source: P10. */
export function decidePlanTurn(
  _state: SessionState,
  _input: Input<'plan.turn.start'>,
  _context: DecideContext,
): Decision {
  return refuse('invalid_request', 'not served here')
}
