import { expect, test } from 'vitest'
import type { Reply } from '../../leader/transport/host-port.ts'
import { verifyRoot } from '../../leader/verify/verify-root.ts'
import { CALLER, SessionWorld } from '../support/session/session-world.ts'
import { waitFor } from '../support/wait-for.ts'

async function put(world: SessionWorld, text: string): Promise<string> {
  const bytes = (async function* () {
    yield Buffer.from(text)
  })()
  const reply = await world.host.putArtifact(bytes, 'text/plain')
  return (reply as unknown as { result: { hash: string } }).result.hash
}

function startNaming(world: SessionWorld, sessionId: string, turnId: string, artifact: string): Promise<Reply> {
  const attachment = { kind: 'file' as const, name: 'a', mimeType: 'text/plain', bytes: 1, ref: { artifact } }
  const content = { text: 'see', attachments: [attachment] }
  return world.call('turn.start', { sessionId, turnId, content }, CALLER)
}

/** A world in which the session `s` alone names an artifact, and `other` names nothing. */
async function withOneUse(options: Parameters<typeof SessionWorld.inMemory>[0] = {}) {
  const world = await SessionWorld.inMemory(options)
  for (const sessionId of ['s', 'other']) await world.create(sessionId)
  const hash = await put(world, 'text')
  expect(await startNaming(world, 's', 's-1', hash)).toMatchObject({ ok: true })
  await world.runs.of('s-1').end()
  await world.advance(33)
  return { world, hash }
}

async function remove(world: SessionWorld, sessionId: string): Promise<void> {
  const { session } = await world.ok('session.get', { sessionId })
  const deletion = { sessionId, operationId: `delete-${sessionId}`, expectedRevision: session.revision }
  expect(await world.ok('session.delete', deletion)).toEqual({ kind: 'deleted' })
}

async function faults(world: SessionWorld): Promise<readonly unknown[]> {
  const found: unknown[] = []
  const frozen = await world.store.freeze()
  for await (const fault of verifyRoot(frozen)) found.push(fault)
  await frozen.close()
  return found
}

test('L5 C1 who names an artifact while it is being removed waits, and does not find it', async () => {
  const { world, hash } = await withOneUse()
  const removeArtifact = world.store.removeArtifact.bind(world.store)
  let named: Promise<Reply> | undefined
  world.store.removeArtifact = async (...args) => {
    named = startNaming(world, 'other', 'other-1', hash)
    const loop = await world.loop('other')
    expect(loop.lane.length).toBe(1)
    await removeArtifact(...args)
  }
  await remove(world, 's')
  await world.purges.idle()
  expect(await named).toMatchObject({ ok: false, error: { code: 'not_found', detail: { artifact: hash } } })
  expect(await faults(world)).toEqual([])
})

test('L5 C1 an artifact that is being named when its last user goes stays, and is swept when nothing came of it', async () => {
  const { world, hash } = await withOneUse()
  const turn = await world.start('other', 'other-0')
  turn.cleansUpSlowly = true
  await turn.end()
  const named = startNaming(world, 'other', 'other-1', hash)
  const loop = await world.loop('other')
  await waitFor(() => loop.runs.waitingForCleanup === 1)
  await remove(world, 's')
  await world.purges.idle()
  expect(await world.host.readArtifact(hash)).toBeDefined()
  world.store.faults.failNext('failed')
  turn.cleanUp()
  expect(await named).toMatchObject({ ok: false, error: { code: 'persistence_failed' } })
  expect(await faults(world)).toEqual([])
  world.clock.advance(25 * 3_600_000)
  await remove(world, 'other')
  await world.purges.idle()
  expect(await world.host.readArtifact(hash)).toBeUndefined()
  expect(await world.store.rows('artifact_use', '')).toEqual([])
})

test('L5 an upload of what is being removed is stored anew', async () => {
  const { world, hash } = await withOneUse()
  const removeArtifact = world.store.removeArtifact.bind(world.store)
  let uploaded: Promise<string> | undefined
  world.store.removeArtifact = async (...args) => {
    uploaded = put(world, 'text')
    await new Promise(resolve => setImmediate(resolve))
    await removeArtifact(...args)
  }
  await remove(world, 's')
  await world.purges.idle()
  expect(await uploaded).toBe(hash)
  expect(await world.host.readArtifact(hash)).toMatchObject({ bytes: 4 })
  expect(await faults(world)).toEqual([])
})

test('S5 L5 L6 an artifact goes with its session although the record that named it was compacted', async () => {
  const world = await SessionWorld.inMemory()
  await world.create('s')
  const hash = await put(world, 'text')
  const run = await world.start('s', 's-1')
  const attachment = { kind: 'file' as const, name: 'a', mimeType: 'text/plain', bytes: 1, ref: { artifact: hash } }
  await world.ok('turn.message.submit', {
    originHostEpoch: world.hostEpoch,
    sessionId: 's',
    messageId: 'm1',
    content: { text: 'see', attachments: [attachment] },
    placement: 'next_turn',
  })
  await world.ok('queue.retract', { sessionId: 's', retractId: 'x' })
  await run.end()
  await world.start('s', 's-2').then(next => next.end())
  await world.start('s', 's-3').then(next => next.end())
  await world.advance(33)
  await world.ok('session.compact', { sessionId: 's' })
  expect((await world.ledger('s'))[0]?.events[0]?.type).toBe('ledger_compacted')
  await remove(world, 's')
  await world.purges.idle()
  expect(await world.host.readArtifact(hash)).toBeUndefined()
  expect(await world.store.rows('artifact_use', '')).toEqual([])
  expect(await faults(world)).toEqual([])
})

test('S5 a purge that was cut off knows whose place is to be given back', async () => {
  for (let at = 1; ; at++) {
    let passed = 0
    let isCut = false
    const crash = (point: string): void => {
      if (point !== 'mid_delete' || ++passed !== at) return
      isCut = true
      throw new Error('cut off')
    }
    const { world, hash } = await withOneUse({ env: { crash } })
    await remove(world, 's')
    await waitFor(() => isCut || world.purges.length === 0)
    await world.purges.stop()
    if (!isCut) break
    const isDone = (await world.store.row('tombstone', '', '!s')) === undefined
    const next = await SessionWorld.after(world)
    const squeezed: (readonly string[] | null)[] = []
    next.store.squeezeShared = async artifacts => void squeezed.push(artifacts)
    await next.purges.resume()
    await next.purges.idle()
    expect(squeezed).toEqual(isDone ? [] : [[hash]])
    expect(await next.host.readArtifact(hash)).toBeUndefined()
  }
})

test('S5 T13 E7 a child whose deletion was lost is deleted again before its parent is purged', async () => {
  const world = await SessionWorld.inMemory()
  await world.create('p')
  const parent = await world.start('p', 't1')
  const child = await parent.port.children?.start({ agentName: 'bob', agentId: 'a', content: { text: 'look' } })
  const childId = child?.sessionId ?? ''
  await world.runs.of(child?.turnId ?? '').end()
  await parent.end()
  const append = world.store.append.bind(world.store)
  let lost = 0
  world.store.append = (items, options) => {
    if (items[0]?.session === childId && lost === 0) {
      lost += 1
      world.store.faults.failNext('failed')
    }
    return append(items, options)
  }
  await remove(world, 'p')
  await world.during(world.purges.idle())
  expect(lost).toBe(1)
  expect((await world.refused('session.get', { sessionId: childId })).code).toBe('not_found')
  expect((await world.store.rows('tombstone', '')).map(({ id }) => id).sort()).toEqual([childId, 'p'].sort())
  expect(await faults(world)).toEqual([])
})
