import type { Input, Result } from '../../../schema/commands/index.ts'
import type { Registration } from '../../../schema/wire/registration.ts'
import type { FrozenOperation } from '../../client/node/frozen-leader.ts'
import type { CommandContext } from '../context.ts'
import { toFailure } from '../failure.ts'
import { chosenRoot, placesHere, readRegistration } from './here.ts'

/** A leader that is there but serves no ordinary command: of another version, not ready yet, or stopping already. */
export interface FrozenHost {
  readonly registration: Registration
  /** Asks what every version understands. Undefined: it did not answer. Source: M2. */
  ask<Op extends FrozenOperation>(operation: Op, input: Input<Op>): Promise<Result<Op> | undefined>
}

/** The leader that registered for the chosen root, whatever it speaks; undefined without one, or for a URL. */
export async function findFrozenHost({ flags, surroundings }: CommandContext): Promise<FrozenHost | undefined> {
  if (flags.url !== undefined) return undefined
  const registration = await readRegistration(placesHere(surroundings.env), chosenRoot(flags, surroundings))
  if (registration === undefined) return undefined
  return {
    registration,
    async ask(operation, input) {
      const { askFrozen } = await import('../../client/node/frozen-leader.ts')
      return askFrozen(registration, operation, input)
    },
  }
}

/** True for a failure to connect that does not mean that there is no leader. */
export function isThereAnyway(error: unknown): boolean {
  const { code } = toFailure(error)
  return code === 'incompatible' || code === 'host_draining' || code === 'host_not_ready'
}
