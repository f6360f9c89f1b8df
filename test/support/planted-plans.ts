import type { OfflineStore } from '../../leader/index.ts'
import { canonicalDigest } from '../../schema/digest.ts'
import type { PlanContent, PlanProposal } from '../../schema/entities/plan.ts'

/** A plan of these steps. */
export function planOf(title: string, ...steps: readonly string[]): PlanContent {
  return { title, steps: steps.map(id => ({ id, title: `Step ${id}`, description: '' })) }
}

/** The session that `plantPlans` makes. */
export const PLANNED = 'planned'

/** A session of that id whose turn `t1` has ended and has submitted these plans, one after the other, each revising the one before. */
export async function plantPlans(
  store: OfflineStore,
  contents: readonly PlanContent[] = [planOf('Fix it', 'a', 'b')],
  backend = 'scripted',
): Promise<readonly PlanProposal[]> {
  const sessionId = PLANNED
  const run = { turnId: 't1', runId: 'r1' }
  await store.createSession({ sessionId, cwd: '/', backend })
  await store.admitTurn({
    sessionId,
    ...run,
    userMessageId: 'm1',
    execution: { kind: 'external_message' },
    previousRootTurnId: null,
    normalizedInput: { text: 'plan it' },
    sourceMessages: [],
    submittedBy: null,
    admittedAt: 1,
  })
  await store.createRun({ sessionId, ...run })
  await store.appendUserMessage({ sessionId, turnId: 't1', messageId: 'm1', content: { text: 'plan it' }, at: 1 })
  const proposals: PlanProposal[] = []
  for (const content of contents) {
    const proposal = proposalOf(content, proposals)
    await store.appendRunEvent({ sessionId, runId: 'r1', type: 'plan_submitted', payload: { proposal } })
    proposals.push(proposal)
  }
  await store.appendRunEvent({ sessionId, runId: 'r1', type: 'run_completed', payload: {} })
  return proposals
}

function proposalOf(content: PlanContent, earlier: readonly PlanProposal[]): PlanProposal {
  const number = String(earlier.length + 1).padStart(12, '0')
  const last = earlier.at(-1)
  return {
    planId: 'plan-000000000001-aaaaaaaa',
    proposalId: `proposal-${number}-aaaaaaaa`,
    sessionId: PLANNED,
    turnId: 't1',
    revision: earlier.length + 1,
    contentDigest: canonicalDigest(content),
    ...(last === undefined ? {} : { supersedesProposalId: last.proposalId }),
    ...content,
    status: 'pending_approval',
    submittedAt: 1,
  }
}
