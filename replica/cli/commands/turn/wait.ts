import type { SessionProjection } from '../../../../schema/entities/projection.ts'
import type { QueueEntry } from '../../../../schema/entities/queue.ts'
import { isTerminal, type TurnSnapshot } from '../../../../schema/entities/turn.ts'
import type { LeaderConnection } from '../../../client/types.ts'
import type { CommandBody, CommandContext, Outcome } from '../../context.ts'
import { usage } from '../../failure.ts'
import { type FollowedSession, followSession, LOST_AFTER_MS } from '../../follow/followed-session.ts'
import { isPassing } from '../../follow/ledger-tail.ts'
import { turnLine } from '../../follow/turn-end.ts'

const EXAMPLE = 'headwater wait ID --for idle'

/** `headwater wait`: resolves from the session's state, so it also holds for what happened before. */
export const body: CommandBody = async (context, { args: [sessionId = ''], options }) => {
  const what = options.for as string | undefined
  if (what === undefined) throw usage('Say what to wait for: --for idle, pending or turn:TURN.', EXAMPLE)
  const turnId = /^turn:(.+)$/.exec(what)?.[1]
  if (what !== 'idle' && what !== 'pending' && turnId === undefined) {
    throw usage(`"${what}" cannot be waited for; idle, pending or turn:TURN can.`, EXAMPLE)
  }
  const connection = await context.connect({ spawn: 'known_root' })
  const followed = await followSession(context, connection, sessionId, { lostAfterMs: LOST_AFTER_MS })
  try {
    if (turnId !== undefined) return await untilTurnEnded({ context, connection, followed }, sessionId, turnId)
    for (;;) {
      const outcome = what === 'idle' ? whenIdle(followed) : whenPending(followed)
      if (outcome !== undefined) return outcome
      await followed.changed()
    }
  } finally {
    await followed.close()
  }
}

interface Waiting {
  readonly context: CommandContext
  readonly connection: LeaderConnection
  readonly followed: FollowedSession
}

function whenIdle({ current, freshness }: FollowedSession): Outcome | undefined {
  if (freshness.state !== 'live' || !isIdle(current)) return undefined
  return {
    result: { for: 'idle', turn: current.rootTurn, revision: current.revision },
    text: current.rootTurn === null ? 'idle' : `idle: ${turnLine(current.rootTurn)}`,
  }
}

/** No turn is active and none follows by itself: what is parked or held does not count. Source: T12, Q7, Q9. */
export function isIdle({ rootTurn, queue }: SessionProjection): boolean {
  const follows = (entry: QueueEntry) => entry.state === 'queued' && entry.heldBy === undefined
  return (rootTurn === null || isTerminal(rootTurn.status)) && ![...queue.steering, ...queue.followup].some(follows)
}

function whenPending({ current, freshness }: FollowedSession): Outcome | undefined {
  const { pending } = current.interactions
  if (freshness.state !== 'live' || pending.length === 0) return undefined
  return {
    result: { for: 'pending', interactions: pending, revision: current.revision },
    text: pending.map(({ interactionId, request }) => `${interactionId}\t${request.kind}`).join('\n'),
  }
}

async function untilTurnEnded(
  { context, connection, followed }: Waiting,
  sessionId: string,
  turnId: string,
): Promise<Outcome> {
  for (;;) {
    const turn = await turnNow({ context, connection, followed }, sessionId, turnId)
    if (turn !== undefined && isTerminal(turn.status))
      return { result: { for: `turn:${turnId}`, turn }, text: turnLine(turn) }
    await followed.changed()
  }
}

async function turnNow(
  { context, connection, followed }: Waiting,
  sessionId: string,
  turnId: string,
): Promise<TurnSnapshot | undefined> {
  const { rootTurn } = followed.current
  if (rootTurn?.turnId === turnId) return rootTurn
  try {
    return await connection.queryTurn({ sessionId, turnId }, { signal: context.signal })
  } catch (error) {
    if (isPassing(error)) return undefined
    throw error
  }
}
