import type { Actor } from '../../../schema/entities/primitives.ts'

/** The position of a transition: what its record says beside the events. */
export interface TransitionMeta {
  readonly revision: number
  readonly at: number
  readonly actor: Actor
  readonly epochNumber: number
}
