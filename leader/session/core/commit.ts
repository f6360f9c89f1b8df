import type { Actor } from '../../../schema/entities/primitives.ts'
import type { WireErrorCode } from '../../../schema/errors.ts'
import type { DomainEvent } from '../../../schema/events.ts'
import { GENESIS_HASH } from '../../../schema/ids.ts'
import { initialState, type SessionState } from '../../domain/state.ts'
import type { RowWrite, SessionHead } from '../../log/store.ts'
import { SessionDocument } from '../../projection/session-document.ts'
import type { SessionEnvironment } from '../environment.ts'
import type { LoadedSession } from '../load.ts'
import type { StoredReceipt } from '../receipts.ts'
import type { ActiveRow } from '../rows.ts'
import { newGeneration } from './generation.ts'

/** One lane step to be made durable. No events: only the receipt and the rows are stored. */
export interface Commit {
  readonly events: readonly DomainEvent[]
  readonly actor: Actor
  /** The receipt, made from the state after the events. */
  readonly receipt?: { readonly scope: string; readonly id: string; readonly of: (next: SessionState) => StoredReceipt }
  readonly rows?: readonly RowWrite[]
  readonly committed?: (durable: SessionState) => void
  readonly failed?: (code: WireErrorCode) => void
  /** What became of it will not be known soon; one of the others follows. */
  readonly unknown?: () => void
}

/** What a core tells its session. */
export interface CoreHooks {
  /** A newer state is durable and published. */
  durable(state: SessionState): void
  /** Nothing may decide until there was a `resumed` for every `paused`. */
  paused(): void
  resumed(): void
  /** Events or text of a run were lost with a failed batch. Source: E7. */
  lost(): void
  /** The session cannot be written any more in this process. `damage` says why where it is damaged. */
  gaveUp(damage: string | null): void
}

/** How a core is opened. */
export interface CoreOptions {
  readonly env: SessionEnvironment
  readonly sessionId: string
  readonly loaded: LoadedSession | null
  readonly fence: number
  /** The revision this epoch starts from; null: the present one, or 1 for a session that is not there yet. Source: V4. */
  readonly baseRevision: number | null
  /** A replica was ahead of this session in this epoch before. Source: V6. */
  readonly wentBack?: boolean
  readonly hooks: CoreHooks
}

/** Where a session stands. `durable` is the newest state on disk; all else belongs to the newest decided one and may be ahead of it. */
export interface Standing {
  readonly fence: number
  document: SessionDocument
  state: SessionState
  durable: SessionState
  head: SessionHead
  lastHash: string
  active: ActiveRow | null
}

/** A session as it was loaded, with nothing decided since. Null: it is not there yet. */
export function standingOf(
  loaded: LoadedSession | null,
  place: { readonly sessionId: string; readonly fence: number; readonly env: SessionEnvironment },
): Standing {
  const { sessionId, fence, env } = place
  const state = loaded?.state ?? initialState(sessionId)
  return {
    fence,
    document: loaded?.document ?? SessionDocument.create(newGeneration(env)),
    state,
    durable: state,
    head: loaded?.head ?? { revision: 0, update: 0 },
    lastHash: loaded?.lastHash ?? GENESIS_HASH,
    active: loaded?.active ?? null,
  }
}

/** What was durable, to be read only: a build of its own, because nobody may take it for a continuation of what they saw. */
export function fallBack(standing: Standing, env: SessionEnvironment): Standing {
  const { durable, head } = standing
  const generation = newGeneration(env)
  const document =
    durable.revision === 0
      ? SessionDocument.create(generation)
      : SessionDocument.build(generation, durable, { number: head.update, blocks: [] })
  return { ...standing, document, state: durable }
}
