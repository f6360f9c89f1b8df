import type { Input, Result } from '../../../schema/commands/index.ts'
import type { Registration } from '../../../schema/wire/registration.ts'
import type { CommandContext } from '../context.ts'
import { toFailure } from '../failure.ts'
import { chosenRoot, placesHere, readRegistration, rootIdOf } from './here.ts'

type Frozen = 'host.status' | 'host.shutdown'

/** A leader that is there but serves no ordinary command: of another version, not ready yet, or stopping already. */
export interface FrozenHost {
  readonly registration: Registration
  /** Asks what every version understands. Undefined: it did not answer. Source: M2. */
  ask<Op extends Frozen>(operation: Op, input: Input<Op>): Promise<Result<Op> | undefined>
}

/** The leader that registered for the chosen root, whatever it speaks; undefined without one, or for a URL. */
export async function findFrozenHost({ flags, surroundings }: CommandContext): Promise<FrozenHost | undefined> {
  if (flags.url !== undefined) return undefined
  const rootId = await rootIdOf(chosenRoot(flags, surroundings))
  const registration = rootId === undefined ? undefined : await readRegistration(placesHere(surroundings.env), rootId)
  if (registration === undefined) return undefined
  return {
    registration,
    async ask(operation, input) {
      try {
        const { localEndpoint } = await import('../../client/node/endpoint.ts')
        const answer = await (await localEndpoint(registration.socketPath, rootId)).http({
          method: 'POST',
          path: `/v1/command/${operation}`,
          headers: { 'content-type': 'application/json' },
          body: Buffer.from(JSON.stringify(input)),
        })
        const reply = JSON.parse(answer.body) as { ok: boolean; result?: Result<typeof operation> }
        return reply.ok ? reply.result : undefined
      } catch {
        return undefined
      }
    },
  }
}

/** True for a failure to connect that does not mean that there is no leader. */
export function isThereAnyway(error: unknown): boolean {
  const { code } = toFailure(error)
  return code === 'incompatible' || code === 'host_draining' || code === 'host_not_ready'
}
