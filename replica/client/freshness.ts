import type { Freshness } from '../../schema/entities/projection.ts'
import type { StateKind } from './link/machine.ts'
import type { FreshnessState } from './ports.ts'

/** What a document's replication is at. */
export type DocumentPhase = 'offline' | 'joining' | 'live'

/** How true what a connection says is, by the state of its machine: nothing is known of a leader that has not been accepted. Source: A10. */
export function connectionFreshness(state: StateKind): FreshnessState {
  if (state === 'ready') return 'live'
  return state === 'preparing' ? 'syncing' : 'offline'
}

/**
 * How true a document is: `live` only while both its connection and its own replication are, `syncing` while either of them is on
 * its way to it. Source: A10.
 */
export function documentFreshness(connection: FreshnessState, phase: DocumentPhase): FreshnessState {
  if (connection !== 'live') return connection
  return phase === 'live' ? 'live' : 'syncing'
}

/** What shows at a moment of the leader's clock that a view was true. */
export type Proof =
  /** A pong, or the leader's own awareness of a document. */
  | { readonly kind: 'said'; readonly at: number }
  /** A transition or delta arrived as it was published. */
  | { readonly kind: 'published'; readonly at: number }
  /** A message without content; it proves the newest leader time that is known. */
  | { readonly kind: 'quiet'; readonly leaderTime: number | null }

/** The leader's time of the last proof, after one more; leader clocks may step back, so the last one counts. Source: A10. */
export function asOfAfter(asOf: number | null, proof: Proof): number | null {
  if (proof.kind === 'quiet') return proof.leaderTime ?? asOf
  return proof.at
}

/** The freshness with these values: the same object where nothing changed, so that screens can compare identities. */
export function nextFreshness(known: Freshness, state: FreshnessState, asOf: number | null): Freshness {
  return known.state === state && known.asOf === asOf ? known : Object.freeze({ state, asOf })
}
