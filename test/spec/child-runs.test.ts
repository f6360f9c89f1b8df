import { expect, test } from 'vitest'
import type { ChildRun, ChildTools } from '../../leader/execution/backend.ts'
import type { Reply } from '../../leader/transport/host-port.ts'
import { LIMITS } from '../../schema/limits.ts'
import type { PuppetRun } from '../support/session/puppet-runs.ts'
import { SessionWorld, settle } from '../support/session/session-world.ts'

function toolsOf({ port }: PuppetRun): ChildTools {
  if (port.children == null) throw new Error('the run can have no children')
  return port.children
}

const CHILD = { agentName: 'bob', agentId: 'agent-1', content: { text: 'look' } }

/** A world whose session `p` runs turn `t1`, and a child of that run. */
async function withChild(): Promise<{ world: SessionWorld; parent: PuppetRun; child: PuppetRun; run: ChildRun }> {
  const world = await SessionWorld.inMemory()
  await world.create('p')
  const parent = await world.start('p', 't1')
  const run = await toolsOf(parent).start(CHILD)
  return { world, parent, child: world.runs.of(run.turnId), run }
}

/** Stops the turn of `p`; `isAnswered` tells whether the reply is there. */
function stopParent(world: SessionWorld, { port }: PuppetRun): { reply: Promise<Reply>; isAnswered: () => boolean } {
  let isAnswered = false
  const reply = world.call('turn.stop', { sessionId: 'p', turnId: port.turnId, runId: port.runId }).finally(() => {
    isAnswered = true
  })
  return { reply, isAnswered: () => isAnswered }
}

async function statusOf(world: SessionWorld, { sessionId, turnId }: Pick<ChildRun, 'sessionId' | 'turnId'>) {
  return await world.ok('turn.query', { sessionId, turnId })
}

test('T13 L1 a child is there with its first record, and a row leads to it from its parent', async () => {
  const { world, run } = await withChild()
  const [first, second] = await world.ledger(run.sessionId)
  expect(first).toMatchObject({ revision: 1, actor: 'run' })
  expect(first?.events.map(event => event.type)).toEqual(['session_created', 'turn_admitted'])
  expect(second?.events.map(event => event.type)).toEqual(['run_started', 'user_message_appended'])
  const rows = await world.store.rows('child', '', {})
  expect(rows.map(row => row.id)).toEqual([`p.${run.sessionId}`])
  await world.onDisk(run.sessionId)
  await world.onDisk('p')
})

test('E9 T13 children run on the places of parents that wait for them; what is not a child waits', async () => {
  const world = await SessionWorld.inMemory({ places: 2 })
  for (const id of ['p', 'q', 'r']) await world.create(id)
  const parents = [await world.start('p', 't-p'), await world.start('q', 't-q')]
  const waits = await world.ok('turn.start', { sessionId: 'r', turnId: 't-r', content: { text: 'x' } })
  expect(waits.turn.status).toBe('admitted')
  const children = await Promise.all(parents.map(parent => toolsOf(parent).start(CHILD)))
  const grandchild = await toolsOf(world.runs.of(children[0]?.turnId ?? '')).start(CHILD)
  for (const each of [...children, grandchild]) expect(await statusOf(world, each)).toMatchObject({ status: 'running' })
  expect([world.slots.taken, world.slots.waiting]).toEqual([2, 1])
  for (const each of [grandchild, ...children]) {
    await world.runs.of(each.turnId).end()
    expect(await each.ended).toMatchObject({ status: 'completed' })
  }
  // A message that a person sends to the child is nobody's child turn.
  const [first] = children as [ChildRun]
  const own = { sessionId: first.sessionId, turnId: 'own', content: { text: 'x' } }
  expect((await world.ok('turn.start', own)).turn.status).toBe('admitted')
  await parents[0]?.end()
  await settle()
  expect(world.runs.started.map(({ port }) => port.turnId).at(-1)).toBe('t-r')
  expect([world.slots.taken, world.slots.waiting]).toEqual([2, 1])
})

test('T13 T9 a stop is answered when the children have ended, however long that takes within their cut-off', async () => {
  const { world, parent, child, run } = await withChild()
  child.ignoresStops = true
  const inner = await toolsOf(child).start(CHILD)
  const innermost = world.runs.of(inner.turnId)
  innermost.ignoresStops = true
  const { reply, isAnswered } = stopParent(world, parent)
  await world.advance(LIMITS.stopCutoffMs - 100)
  expect([parent.stops, child.stops, innermost.stops]).toEqual([['user_stop'], ['parent_stopped'], ['parent_stopped']])
  const childEnd = child.end({ kind: 'cancelled', abortSource: 'parent_stopped' })
  await world.advance(33)
  expect([isAnswered(), (await statusOf(world, run)).status]).toEqual([false, 'running'])
  await innermost.end({ kind: 'cancelled', abortSource: 'parent_stopped' })
  await childEnd
  expect(await reply).toMatchObject({ ok: true, result: { status: 'cancelled', abortSource: 'user_stop' } })
  expect(await statusOf(world, run)).toMatchObject({ status: 'cancelled', abortSource: 'parent_stopped' })
  expect(await statusOf(world, inner)).toMatchObject({ status: 'cancelled', abortSource: 'parent_stopped' })
})

test('T13 T9 a child that does not end keeps its parent no longer than its own cut-off', async () => {
  const { world, parent, child, run } = await withChild()
  child.ignoresStops = true
  const { reply, isAnswered } = stopParent(world, parent)
  await settle()
  await world.advance(LIMITS.stopCutoffMs)
  expect(isAnswered()).toBe(false)
  await world.advance(LIMITS.childStopGraceMs)
  expect(await reply).toMatchObject({ ok: true, result: { status: 'cancelled', abortSource: 'user_stop' } })
  await child.end({ kind: 'cancelled', abortSource: 'parent_stopped' })
  expect(await run.ended).toMatchObject({ status: 'cancelled' })
})

test('T13 a child that is being started when its parent stops is stopped too; none starts afterwards', async () => {
  const world = await SessionWorld.inMemory()
  await world.create('p')
  const parent = await world.start('p', 't1')
  const tools = toolsOf(parent)
  world.store.faults.hold()
  const starting = tools.start(CHILD)
  const deciding = [settle(), settle(), settle()]
  await Promise.all(deciding)
  const { reply } = stopParent(world, parent)
  await settle()
  const late = tools.start({ ...CHILD, agentName: 'late' })
  late.catch(() => {})
  world.store.faults.release()
  const run = await world.during(starting)
  expect(await world.during(reply)).toMatchObject({ ok: true, result: { status: 'cancelled' } })
  expect(await statusOf(world, run)).toMatchObject({ status: 'cancelled', abortSource: 'parent_stopped' })
  await expect(late).rejects.toMatchObject({ code: 'operation_conflict' })
  await expect(tools.retry({ sessionId: run.sessionId })).rejects.toMatchObject({ code: 'operation_conflict' })
  expect(await world.store.rows('child', '', {})).toHaveLength(1)
})

test('T13 E7 a parent whose events were lost ends its children with it', async () => {
  const { world, parent, run } = await withChild()
  world.store.faults.failNext('failed')
  await expect(world.during(parent.port.apply({ kind: 'notice', text: 'lost' }))).rejects.toThrow()
  await world.advance(200)
  expect(await statusOf(world, { sessionId: 'p', turnId: 't1' })).toMatchObject({
    status: 'failed',
    failureClass: 'storage',
  })
  expect(await statusOf(world, run)).toMatchObject({ status: 'cancelled', abortSource: 'parent_stopped' })
})

test('T13 A7 a root has at most 256 children running; one that has ended makes room', async () => {
  const world = await SessionWorld.inMemory()
  const tools: ChildTools[] = []
  for (let i = 0; i <= LIMITS.childrenRunning / LIMITS.childrenPerRun; i++) {
    await world.create(`p${i}`)
    tools.push(toolsOf(await world.start(`p${i}`, `t${i}`)))
  }
  const [last] = tools.splice(-1) as [ChildTools]
  const many = Array.from({ length: LIMITS.childrenPerRun }, () => 0)
  const runs = await Promise.all(tools.flatMap(each => many.map(() => each.start(CHILD))))
  expect(runs).toHaveLength(LIMITS.childrenRunning)
  await expect(last.start(CHILD)).rejects.toMatchObject({ code: 'too_large' })
  await world.runs.of(runs[0]?.turnId ?? '').end()
  await runs[0]?.ended
  await last.start(CHILD)
})

test('T13 L3 an answer is read from sealed history too, and is only that of its turn', async () => {
  const { world, child, run } = await withChild()
  let text = ''
  const pieces = Math.ceil(LIMITS.liveTranscriptBytes / LIMITS.textBlockBytes) + 2
  for (let i = 0; i < pieces; i++) {
    const piece = String.fromCharCode(97 + (i % 26)).repeat(LIMITS.textBlockBytes)
    await world.during(child.text(piece))
    text += piece
  }
  expect(await world.during(run.answer())).toBe(text)
  await child.end()
  const { sessionId } = run
  const next = await world.start(sessionId, 'own')
  await world.during(next.text('mine'))
  await next.end()
  expect(await world.during(run.answer())).toBe(text)
})

test('T13 X1 X13 when the leader is gone, parent and child have both failed, and nothing of either runs again', async () => {
  const { world, run } = await withChild()
  let next = await SessionWorld.after(world)
  const failed = { status: 'failed', failureClass: 'app_restarted' }
  for (let i = 0; i < 2; i++) {
    expect(await statusOf(next, { sessionId: 'p', turnId: 't1' })).toMatchObject(failed)
    expect(await statusOf(next, run)).toMatchObject(failed)
    expect(next.runs.started).toEqual([])
    expect((await next.onDisk(run.sessionId)).state.root?.runs).toMatchObject([
      { agentId: 'agent-1', agentName: 'bob' },
    ])
    next = await SessionWorld.after(next, { epochNumber: 3 + i })
  }
})
