import type { Input, OperationName, Result } from '../../../schema/commands/index.ts'
import { operationError } from '../../client/commands/errors.ts'
import { realSurroundings } from '../../client/ports.ts'
import type { LeaderConnection, RequestOptions } from '../../client/types.ts'

/** The commands of a session: the operation of each, and the identity that is made where none is given. */
const OPERATIONS = {
  startTurn: ['turn.start', 'turnId'],
  regenerateTurn: ['turn.regenerate', 'turnId'],
  stopTurn: ['turn.stop', null],
  interruptTurn: ['turn.interrupt', 'interruptId'],
  submitMessage: ['turn.message.submit', 'messageId'],
  answerInteraction: ['interaction.answer', null],
  editEntry: ['queue.edit', null],
  removeEntry: ['queue.remove', null],
  moveEntry: ['queue.move', null],
  promoteEntry: ['queue.promote', null],
  holdEntry: ['queue.hold', null],
  retractMessages: ['queue.retract', 'retractId'],
  resumeQueue: ['queue.resume', null],
  controlPlan: ['plan.control', null],
  startPlanTurn: ['plan.turn.start', 'turnId'],
  updateSession: ['session.update', null],
  archiveSession: ['session.archive', null],
  unarchiveSession: ['session.unarchive', null],
  deleteSession: ['session.delete', null],
  forkSession: ['session.fork', 'newSessionId'],
} as const satisfies Readonly<Record<string, readonly [OperationName, string | null]>>

/** The name of a command of a session. */
export type BoundName = keyof typeof OPERATIONS
type OperationOf<N extends BoundName> = (typeof OPERATIONS)[N][0]
type Made<N extends BoundName> = Extract<(typeof OPERATIONS)[N][1], string> | 'originHostEpoch'

/** What a bound command takes: its operation's input without the session; an identity may be left out. */
export type BoundInput<N extends BoundName> =
  Input<OperationOf<N>> extends infer I
    ? I extends object
      ? Omit<I, 'sessionId' | Made<N>> & Partial<Pick<I, Made<N> & keyof I>>
      : never
    : never
/** What a bound command gives. */
export type BoundResult<N extends BoundName> = Result<OperationOf<N>>

/** The commands of one session. Each sends at once and rejects as `request` of the connection does. */
export type SessionCommands = {
  readonly [N in BoundName]: (input: BoundInput<N>, options?: RequestOptions) => Promise<BoundResult<N>>
}

/**
 * The commands of a session, for whatever connection there is when one is called; without any they reject `offline`. An identity that is
 * not given is made, once for a call: sending again after a lost connection keeps it. Source: A5.
 */
export function bindCommands(connection: () => LeaderConnection | null, sessionId: string): SessionCommands {
  const bound = Object.entries(OPERATIONS).map(([name, [operation, identity]]) => {
    const send = async (input: object, options?: RequestOptions): Promise<unknown> => {
      const leader = connection()
      if (leader === null) throw operationError('offline')
      const made = identity === null ? {} : { [identity]: realSurroundings.newId() }
      const origin = operation === 'turn.message.submit' ? { originHostEpoch: leader.hostEpoch } : {}
      const whole = { ...made, ...origin, ...input, sessionId } as unknown as Input<typeof operation>
      return leader.request(operation, whole, options)
    }
    return [name, send]
  })
  return Object.freeze(Object.fromEntries(bound)) as SessionCommands
}
