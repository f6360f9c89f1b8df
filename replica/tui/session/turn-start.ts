import type { SessionProjection } from '../../../schema/entities/projection.ts'

/** When the newest turn began, by the leader's clock in ms, as far as its first entry is still shown; null otherwise. */
export function turnStart({ rootTurn, transcript }: SessionProjection): number | null {
  if (rootTurn === null) return null
  return transcript.entries.find(({ turnId }) => turnId === rootTurn.turnId)?.at ?? null
}
