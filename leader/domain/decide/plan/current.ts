import { type Refusal, refuse } from '../../decision.ts'
import type { SessionState } from '../../state.ts'

/** A change that the plan, as it is now, does not allow; `detail` says how it is. Source: P1–P8. */
export function planConflict({ plan }: SessionState, message: string): Refusal {
  const { storeVersion, latestProposal, activeExecution } = plan
  return refuse('operation_conflict', message, {
    storeVersion,
    latestProposalId: latestProposal?.proposalId ?? null,
    revision: latestProposal?.revision ?? null,
    status: latestProposal?.status ?? null,
    activeExecutionId: activeExecution?.executionId ?? null,
  })
}

/** The id of something that the next plan event names: ids of one kind sort in the order of their events. Source: P12. */
export function planItemId(
  kind: 'plan' | 'proposal' | 'execution',
  { plan }: SessionState,
  freshItemId: string,
): string {
  const version = String(plan.storeVersion + 1).padStart(12, '0')
  return `${kind}-${version}-${freshItemId.slice(0, 8)}`
}
