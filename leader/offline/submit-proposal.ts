import type { PlanContent, PlanProposal } from '../../schema/entities/plan.ts'
import { HeadwaterError } from '../../schema/errors.ts'
import type { DomainEvent } from '../../schema/events.ts'
import { decideSubmitPlan } from '../domain/decide/plan/progress.ts'
import { payloadDigest, type StoredReceipt } from '../session/receipts.ts'
import { decodeJson } from '../session/record.ts'
import type { SessionLoop } from '../session/session-loop.ts'
import type { ProposalResult } from './offline-store.ts'

/** What a planted proposal's receipt is kept under; no client's command has this name. */
const SCOPE = 'offline.plan.submit'

/** A proposal of a turn. A turn nobody has heard of has no run. */
interface Submission {
  readonly turnId: string
  readonly runId: string | null
  readonly content: PlanContent
}

/**
 * Writes a proposal as the session's run would, once per `operationId`; resolves when it is durable. Errors: `operation_conflict` for
 * another payload under the same id, and what the plan refuses. Source: P1, A5.
 */
export async function submitProposal(
  loop: SessionLoop,
  operationId: string,
  submission: Submission,
): Promise<ProposalResult> {
  const { core, lane, sessionId } = loop
  const { turnId, content } = submission
  const digest = payloadDigest(SCOPE, { sessionId, turnId, ...content })
  const bytes = await core.env.store.receipt(sessionId, SCOPE, operationId)
  const onDisk = bytes === undefined ? undefined : decodeJson<StoredReceipt>(bytes)
  return await new Promise((resolve, reject) => {
    const commit = (): void => {
      const known = core.recent.receipt(SCOPE, operationId) ?? onDisk
      if (known !== undefined) {
        const result = readKnown(known, digest)
        core.afterPending(isDurable => (isDurable ? resolve(result) : reject(new HeadwaterError('persistence_failed'))))
        return
      }
      let result: ProposalResult | undefined
      core.commit({
        events: decide(loop, submission),
        actor: 'leader',
        receipt: {
          scope: SCOPE,
          id: operationId,
          of: ({ plan }) => {
            const { storeVersion, latestProposal } = plan
            result = { sessionId, storeVersion, eventType: 'plan_submitted', proposal: latestProposal as PlanProposal }
            return { operation: SCOPE, digest, result }
          },
        },
        committed: () => resolve(result as ProposalResult),
        failed: code => reject(new HeadwaterError(code)),
      })
    }
    lane.run(commit, reject)
  })
}

function readKnown({ digest, result }: StoredReceipt, expected: string): ProposalResult {
  if (digest === expected) return result as ProposalResult
  throw new HeadwaterError('operation_conflict', 'this operationId was used for another proposal')
}

/** The facts that a run's own submission would be; without a run it is a fact of none. */
function decide(loop: SessionLoop, { turnId, runId, content }: Submission): readonly DomainEvent[] {
  const decision = decideSubmitPlan(loop.core.state, { turnId, runId: runId ?? '' }, content, loop.context())
  if (decision.kind === 'accept') return runId === null ? decision.events.map(withoutRun) : decision.events
  const { code, message, detail } = decision.kind === 'refuse' ? decision : { code: 'session_busy' as const }
  throw new HeadwaterError(code, message, detail)
}

function withoutRun(event: DomainEvent): DomainEvent {
  if (event.type !== 'plan_submitted') return event
  const { runId: _runId, ...payload } = event.payload
  return { ...event, payload } as unknown as DomainEvent
}
