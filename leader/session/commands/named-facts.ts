import type { ClientCommand } from '../../domain/decide/command.ts'
import type { DecideContext } from '../../domain/decision.ts'
import { type Lookups, namedExecutionId } from './lookups.ts'
import type { RecentFacts } from './recent.ts'

/** What was looked up of the things a command names. */
export type NamedFacts = Pick<
  DecideContext,
  | 'olderTurn'
  | 'sourceTurn'
  | 'entryFate'
  | 'settledInteraction'
  | 'namedExecution'
  | 'busyChild'
  | 'forkSource'
  | 'compacted'
>

/** What is known of the things a command names: what was stored a moment ago counts before what was read from the disk. */
export function namedFacts(command: ClientCommand, found: Lookups, recent: RecentFacts): NamedFacts {
  const { input } = command
  const olderTurn = ('turnId' in input ? recent.admission(input.turnId) : undefined) ?? found.olderTurn
  const sourceTurn = ('sourceTurnId' in input ? recent.admission(input.sourceTurnId) : undefined) ?? found.sourceTurn
  const entryFate = ('entryId' in input ? recent.entryFate(input.entryId) : undefined) ?? found.entryFate
  const interactionId = command.operation === 'interaction.answer' ? command.input.interactionId : undefined
  const settled = (interactionId === undefined ? undefined : recent.settled(interactionId)) ?? found.settledInteraction
  const executionId = namedExecutionId(command, olderTurn)
  const recentExecution = executionId === undefined ? undefined : recent.execution(executionId)
  const namedExecution = recentExecution ?? found.namedExecution
  return {
    ...(olderTurn === undefined ? {} : { olderTurn }),
    ...(sourceTurn === undefined ? {} : { sourceTurn }),
    ...(entryFate === undefined ? {} : { entryFate }),
    ...(settled === undefined ? {} : { settledInteraction: settled }),
    ...(found.busyChild === undefined ? {} : { busyChild: found.busyChild }),
    ...(found.forkSource === undefined ? {} : { forkSource: found.forkSource }),
    ...(namedExecution === undefined ? {} : { namedExecution }),
  }
}
