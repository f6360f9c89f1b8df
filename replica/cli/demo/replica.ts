import { isTerminal, type TurnSnapshot } from '../../../schema/entities/turn.ts'
import { connectLeader } from '../../client/node/connect-leader.ts'
import type { LeaderConnection, SessionSubscription } from '../../client/types.ts'
import { joinPieces } from '../follow/final-text.ts'
import { newId } from '../ids.ts'

/** One of the demo's two clients: a connection of its own, following the session. */
export interface DemoReplica {
  readonly name: string
  readonly connection: LeaderConnection
  readonly view: SessionSubscription
}

/** How long the demo waits for anything. Unit: ms. */
const PATIENCE_MS = 20_000

/** Connects to the leader of the root, or throws with why not. */
export async function connectDemo(root: string, surface: string): Promise<LeaderConnection> {
  const result = await connectLeader({ root, surface, cache: false, deadlineMs: PATIENCE_MS })
  if (result.kind !== 'connected') throw new Error(`${surface} could not connect: ${result.kind}`)
  return result.connection
}

/** Follows the session over a connection. */
export async function followDemo(name: string, connection: LeaderConnection, sessionId: string): Promise<DemoReplica> {
  return { name, connection, view: await connection.openSessionSubscription({ sessionId }) }
}

/** Resolves when the replica's view fulfils a condition; looks at every change. */
export function until(replica: DemoReplica, what: string, isSo: (view: SessionSubscription) => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => end(new Error(`${replica.name} did not see in time: ${what}`)), PATIENCE_MS)
    const end = (error?: Error) => {
      clearTimeout(late)
      offChange()
      offFreshness()
      if (error === undefined) resolve()
      else reject(error)
    }
    const look = () => {
      if (isSo(replica.view)) end()
    }
    const offChange = replica.view.onChange(look)
    const offFreshness = replica.connection.on('freshness', look)
    look()
  })
}

/** Starts a turn. */
export async function startDemoTurn(
  { connection }: DemoReplica,
  sessionId: string,
  text: string,
): Promise<TurnSnapshot> {
  const { turn } = await connection.startTurn({ sessionId, turnId: newId(), content: { text } })
  return turn
}

/** The assistant's text of a turn as this replica sees it. */
export function answerOf({ view }: DemoReplica, turnId: string): string {
  const { entries } = view.current.transcript
  return joinPieces(entries.flatMap(entry => (entry.kind === 'assistant' && entry.turnId === turnId ? [entry] : [])))
}

/** True when the replica shows the end of this turn, or a later turn. */
export function hasEnded({ view }: DemoReplica, turnId: string): boolean {
  const { rootTurn } = view.current
  return rootTurn !== null && (rootTurn.turnId !== turnId || isTerminal(rootTurn.status))
}
