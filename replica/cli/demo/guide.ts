import { createInterface } from 'node:readline/promises'
import { isDeepStrictEqual } from 'node:util'
import type { InteractionSnapshot } from '../../../schema/entities/interaction.ts'
import { optionLines } from '../../view/interaction-words.ts'
import { newId } from '../ids.ts'
import { type DemoEnvironment, type LeaderChild, startLeaderChild } from './leader-child.ts'
import { answerOf, connectDemo, type DemoReplica, followDemo, hasEnded, startDemoTurn, until } from './replica.ts'
import type { Screen } from './screen.ts'

const FIRST = 'Every message is on disk before anyone sees it, and everyone sees the same.'
const QUEUED = 'This one waited in the queue.'

/** What the demo works with. */
export interface Guided {
  readonly screen: Screen
  readonly root: string
  readonly env: DemoEnvironment
  readonly stdin: NodeJS.ReadStream
}

/** Shows the product on a temporary root, and checks what it shows. Throws where something is not so. */
export async function guide(guided: Guided): Promise<void> {
  const { screen, root, env } = guided
  screen.step('A leader owns a data root; everything else is a replica')
  const first = await startLeaderChild(root, env)
  screen.say(`leader: process ${first.pid}, epoch ${first.hostEpoch.slice(0, 8)}`)
  const [left, right] = await twoReplicas(root, env.PWD ?? '/')
  try {
    const sessionId = left.view.current.session.sessionId
    await streamedTurn(screen, left, right, sessionId)
    await permissionTurn(guided, left, right, sessionId)
    const second = await killAndRestart(guided, first, left, right)
    await lastTurn(screen, left, right, sessionId)
    await finish(screen, second, left, right)
  } finally {
    await Promise.allSettled([left.connection.close(), right.connection.close()])
  }
}

async function twoReplicas(root: string, cwd: string): Promise<[DemoReplica, DemoReplica]> {
  const [left, right] = await Promise.all([connectDemo(root, 'demo-left'), connectDemo(root, 'demo-right')])
  const { session } = await left.createSession({ sessionId: newId(), cwd, backend: 'scripted', title: 'Demo' })
  return [await followDemo('left ', left, session.sessionId), await followDemo('right', right, session.sessionId)]
}

async function streamedTurn(screen: Screen, left: DemoReplica, right: DemoReplica, sessionId: string): Promise<void> {
  screen.step('A turn streams to both replicas; a follow-up waits in the queue')
  const turn = await startDemoTurn(left, sessionId, FIRST)
  const { disposition } = await right.connection.submitMessage({
    originHostEpoch: right.connection.hostEpoch,
    sessionId,
    messageId: newId(),
    content: { text: QUEUED },
    placement: 'next_turn',
  })
  await untilBothShow(screen, [left, right], turn.turnId)
  screen.verified(`the second replica's message was queued: ${disposition}`, disposition === 'followup')
  screen.verified('both replicas show the same answer', answerOf(left, turn.turnId) === answerOf(right, turn.turnId))
  await Promise.all(
    [left, right].map(replica => until(replica, 'the queued message', ({ current }) => isQueueDone(current))),
  )
  const successor = left.view.current.rootTurn?.turnId ?? ''
  screen.say(`then, by itself: ${answerOf(left, successor)}`)
  screen.verified('the queued message became a turn of its own', answerOf(right, successor) === QUEUED)
}

function isQueueDone({ rootTurn, queue }: DemoReplica['view']['current']): boolean {
  return rootTurn?.status === 'completed' && queue.followup.length === 0 && queue.steering.length === 0
}

/** Shows a turn's text at both while it streams, until both show its end. */
async function untilBothShow(
  screen: Screen,
  replicas: readonly [DemoReplica, DemoReplica],
  turnId: string,
): Promise<void> {
  const twins = screen.twins([replicas[0].name, replicas[1].name])
  const seen = replicas.map((replica, i) =>
    until(replica, 'the end of the turn', () => {
      const text = answerOf(replica, turnId)
      if (text !== '') twins.show(i as 0 | 1, text)
      return hasEnded(replica, turnId)
    }),
  )
  await Promise.all(seen)
  twins.end()
}

async function permissionTurn(guided: Guided, left: DemoReplica, right: DemoReplica, sessionId: string): Promise<void> {
  const { screen } = guided
  screen.step('The agent asks for permission; whoever is there answers')
  const turn = await startDemoTurn(left, sessionId, '/permission')
  await until(right, 'the question', ({ current }) => current.interactions.pending.length > 0)
  const [asked] = right.view.current.interactions.pending
  if (asked === undefined || asked.request.kind !== 'permission') throw new Error('the question was not a permission')
  for (const line of optionLines(asked.request)) screen.say(line)
  const chosen = await choose(guided, asked)
  const optionId = asked.request.options[chosen - 1]?.optionId ?? ''
  const settled = await right.connection.answerInteraction({
    interactionId: asked.interactionId,
    answer: { kind: 'permission', optionId },
  })
  await Promise.all(
    [left, right].map(replica => until(replica, 'the end of the turn', () => hasEnded(replica, turn.turnId))),
  )
  screen.say(`the agent reports: ${answerOf(left, turn.turnId)}`)
  const stored = await left.connection.request('interaction.query', { interactionId: asked.interactionId })
  screen.verified('the first replica reads the same answer, with who gave it', isDeepStrictEqual(stored, settled))
}

async function choose({ screen, stdin, env }: Guided, { request }: InteractionSnapshot): Promise<number> {
  const count = request.kind === 'permission' ? request.options.length : 0
  if (!screen.isTerminal || stdin.isTTY !== true || (env.CI ?? '') !== '') {
    screen.say('no terminal to ask in: answering 1')
    return 1
  }
  const lines = createInterface({ input: stdin, output: process.stdout })
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  try {
    for (;;) {
      // Ctrl+D leaves the choice to the demo.
      const answer = (await lines.question(`   your choice [1-${count}], Enter for 1: `).catch(() => '')).trim()
      if (answer === '') return 1
      if (/^\d+$/.test(answer) && Number(answer) >= 1 && Number(answer) <= count) return Number(answer)
    }
  } finally {
    lines.close()
  }
}

async function killAndRestart(
  guided: Guided,
  first: LeaderChild,
  left: DemoReplica,
  right: DemoReplica,
): Promise<LeaderChild> {
  const { screen, root, env } = guided
  screen.step('The leader is killed with SIGKILL, and started again')
  const before = left.view.current
  const ledger = await ledgerOf(left)
  await first.kill()
  await Promise.all(
    [left, right].map(replica => until(replica, 'the loss', ({ freshness }) => freshness.state !== 'live')),
  )
  screen.say(
    `killed; both replicas say: ${left.view.freshness.state}, and still show ${before.transcript.entries.length} entries`,
  )
  const second = await startLeaderChild(root, env)
  screen.say(`leader: process ${second.pid}, epoch ${second.hostEpoch.slice(0, 8)}`)
  const isBack = ({ freshness, current }: DemoReplica['view']) =>
    freshness.state === 'live' && current.hostEpoch === second.hostEpoch
  await Promise.all([left, right].map(replica => until(replica, 'the new leader', isBack)))
  screen.verified('both replicas came back by themselves', isBack(left.view) && isBack(right.view))
  const after = await ledgerOf(right)
  screen.verified(
    `nothing is missing or doubled: the same ${ledger.length} ledger records, hash for hash`,
    isDeepStrictEqual(after.slice(0, ledger.length), ledger),
  )
  screen.verified(
    'the transcript is the same',
    isDeepStrictEqual(right.view.current.transcript.entries, before.transcript.entries),
  )
  return second
}

async function ledgerOf({ connection, view }: DemoReplica): Promise<string[]> {
  const { sessionId } = view.current.session
  const { records } = await connection.request('ledger.page', { sessionId, limit: 200 })
  return records.map(({ hash }) => hash)
}

async function lastTurn(screen: Screen, left: DemoReplica, right: DemoReplica, sessionId: string): Promise<void> {
  screen.step('The session goes on under the new leader')
  const turn = await startDemoTurn(right, sessionId, 'And here we are again, after the crash.')
  await untilBothShow(screen, [left, right], turn.turnId)
  screen.verified('the turn completed at both', left.view.current.rootTurn?.status === 'completed')
}

async function finish(screen: Screen, leader: LeaderChild, left: DemoReplica, right: DemoReplica): Promise<void> {
  screen.step('Checked to the end')
  const { sessions, records, faults } = await left.connection.request('root.verify', {})
  screen.verified(
    `every hash of ${sessions} session and ${records} records, and the document against them`,
    faults.length === 0,
  )
  await Promise.all([left.connection.close(), right.connection.close()])
  screen.verified('the leader stopped cleanly', (await leader.stop()) === 0)
}
