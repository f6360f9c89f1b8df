import type { PlanProposal } from '../../../schema/entities/plan.ts'

/** What a person reads of the proposals of a session. */
export interface PlanReading {
  /** The one that is shown. */
  readonly shown: PlanProposal | null
  /** The one that was shown before, to compare with. */
  readonly previous: PlanProposal | null
}

/** Nothing was read yet. */
export const NOTHING_READ: PlanReading = { shown: null, previous: null }

/**
 * What is shown once `latest` is the newest proposal. One that waits for approval is not replaced under the eyes of who reads it by another one
 * that waits: that one has arrived, and `turnTo` shows it. Source: experience 6.4.
 */
export function readOn(reading: PlanReading, latest: PlanProposal | null): PlanReading {
  const { shown } = reading
  if (latest === shown) return reading
  if (latest === null || shown === null) return { shown: latest, previous: null }
  if (latest.proposalId === shown.proposalId) return { ...reading, shown: latest }
  return isWaiting(shown) && isWaiting(latest) ? reading : { shown: latest, previous: shown }
}

/** The newest proposal, where another one is shown; null where the shown one is the newest. */
export function arrivedOf({ shown }: PlanReading, latest: PlanProposal | null): PlanProposal | null {
  return latest === null || shown === null || latest.proposalId === shown.proposalId ? null : latest
}

/** The person turns to the newest proposal. */
export function turnTo(reading: PlanReading, latest: PlanProposal): PlanReading {
  if (reading.shown?.proposalId === latest.proposalId) return { ...reading, shown: latest }
  return { shown: latest, previous: reading.shown }
}

function isWaiting({ status }: PlanProposal): boolean {
  return status === 'pending_approval'
}
