import type { TaskChange, TaskDraft } from '../../../schema/entities/task.ts'
import { type DecideContext, type Decision, refuse } from '../decision.ts'
import type { SessionState } from '../state.ts'

/** Source: K1, K2. */
export function decideCreateTask(
  _state: SessionState,
  _run: { turnId: string; runId: string },
  _draft: TaskDraft,
  _context: DecideContext,
): Decision {
  return refuse('invalid_request', 'not served here')
}

/** Source: K1, K2. */
export function decideUpdateTask(
  _state: SessionState,
  _run: { turnId: string; runId: string },
  _change: TaskChange,
  _context: DecideContext,
): Decision {
  return refuse('invalid_request', 'not served here')
}
