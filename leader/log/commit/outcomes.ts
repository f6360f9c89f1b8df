import type { AppendOutcome, SessionHead } from '../store.ts'
import { NO_HEAD } from '../values.ts'
import type { Claims } from './claims.ts'
import type { Part, Write } from './stage.ts'

/** What became of a failed batch. `absent` carries what its items are told. */
export type Fate =
  | { readonly kind: 'committed' }
  | { readonly kind: 'absent'; readonly outcome: AppendOutcome }
  | { readonly kind: 'unknown' }

/** Why a part of a write was not put into a batch; null where it was not refused itself. */
export type Refusal = 'fenced' | 'conflict' | 'overflow' | null

const FENCED: AppendOutcome = { kind: 'fenced' }
const UNKNOWN: AppendOutcome = { kind: 'unknown' }
const OVERFLOW: AppendOutcome = { kind: 'failed', code: 'rate_limited', message: 'too much waits to be stored' }
const GROUP_REFUSED: AppendOutcome = {
  kind: 'failed',
  code: 'persistence_failed',
  message: 'another item of the atomic group was refused',
}

/** The same outcome for each part; one alone where there is none. */
export function everyPart(write: Write, outcome: AppendOutcome): readonly AppendOutcome[] {
  return write.parts.length <= 1 ? [outcome] : write.parts.map(() => outcome)
}

/** Outcomes of a write that was in a batch of this fate. */
export function outcomesOf(write: Write, fate: Fate, claims: Claims): readonly AppendOutcome[] {
  if (fate.kind === 'unknown') return everyPart(write, UNKNOWN)
  if (fate.kind === 'absent') return everyPart(write, fate.outcome)
  if (write.parts.length === 0) return [{ kind: 'committed', head: NO_HEAD }]
  return write.parts.map(part => ({
    kind: 'committed',
    head: part.next ?? part.expected ?? headOf(part, claims),
  }))
}

/** Outcomes of a write that was kept out of its batch; heads are those after the batch. */
export function refusedOutcomes(write: Write, refusals: readonly Refusal[], claims: Claims): readonly AppendOutcome[] {
  if (refusals[0] === 'overflow') return everyPart(write, OVERFLOW)
  return write.parts.map((part, index) => {
    const refusal = refusals[index]
    if (refusal === 'fenced') return FENCED
    if (refusal === 'conflict') return { kind: 'conflict', head: headOf(part, claims) }
    return GROUP_REFUSED
  })
}

function headOf(part: Part, claims: Claims): SessionHead {
  return claims.get(part.session)?.head ?? NO_HEAD
}

/** What everything is answered with once the root is lost. Source: R5. */
export function ownershipLost(error: unknown): AppendOutcome {
  const message = error instanceof Error ? error.message : 'the data root was lost'
  return { kind: 'failed', code: 'ownership_lost', message }
}
