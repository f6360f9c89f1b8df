import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'
import { waitFor, within } from '../support/wait-for.ts'
import { openBystander } from '../support/wire/bystander.ts'
import { startTestLeader, type TestLeader, TOKEN } from '../support/wire/test-leader.ts'

/** A provider as anyone would write it who knows only address and token. */
function watch(leader: TestLeader, session: string, token = TOKEN): WebsocketProvider {
  const url = `ws://127.0.0.1:${leader.port}/v1/sync/session`
  const provider = new WebsocketProvider(url, session, new Y.Doc(), {
    protocols: ['headwater.v1', `bearer.${token}`],
    WebSocketPolyfill: WebSocket as never,
    disableBc: true,
  })
  onTestFinished(() => provider.destroy())
  return provider
}

/** What the provider says when it gives up. */
function closed(provider: WebsocketProvider): Promise<{ code: number }> {
  const event = new Promise<{ code: number }>(resolve => void provider.on('closed', resolve))
  return within(event, 5_000, 'the end of a stock provider')
}

test('V1 a stock provider with a token watches a session and stays connected while nothing happens', async () => {
  const leader = await startTestLeader({ quietUpdateMs: 100, heartbeatTickMs: 20 })
  const { doc } = leader.host.room('s1')
  doc.getMap('m').set('before', 1)
  const provider = watch(leader, 's1')
  await waitFor(() => provider.synced)
  doc.getMap('m').set('after', 2)
  await waitFor(() => provider.doc.getMap('m').get('after') === 2)
  expect(provider.doc.getMap('m').toJSON()).toEqual({ before: 1, after: 2 })
  const { wsLastMessageReceived } = provider
  await waitFor(() => provider.wsLastMessageReceived > wsLastMessageReceived + 200)
  expect([provider.wsconnected, provider.wsUnsuccessfulReconnects, leader.host.room('s1').members.size]).toEqual([
    true,
    0,
    1,
  ])
})

test('V1 a stock provider that writes is closed with 4403 for good, and the leader’s document stays as it is', async () => {
  const leader = await startTestLeader()
  const bystander = await openBystander(leader)
  const { doc } = leader.host.room('s1')
  doc.getMap('m').set('mine', 1)
  const provider = watch(leader, 's1')
  await waitFor(() => provider.synced)
  const before = Y.encodeStateAsUpdate(doc)
  const end = closed(provider)
  provider.doc.getMap('m').set('mine', 'forged')
  expect(await end).toMatchObject({ code: 4403 })
  expect(provider.shouldConnect).toBe(false)
  expect(Y.encodeStateAsUpdate(doc)).toEqual(before)
  await waitFor(() => leader.host.room('s1').members.size === 0)
  await bystander.expectUnharmed()
})

test('V1 what a stock provider says of itself reaches nobody', async () => {
  const leader = await startTestLeader()
  leader.host.room('s1')
  const [one, two] = [watch(leader, 's1'), watch(leader, 's1')]
  await waitFor(() => one.synced && two.synced)
  one.awareness.setLocalState({ name: 'one' })
  leader.host.room('s1').doc.getMap('m').set('after', 1)
  await waitFor(() => two.doc.getMap('m').get('after') === 1)
  const states = [...two.awareness.getStates().entries()].filter(([id]) => id !== two.doc.clientID)
  expect(states).toEqual([[1, expect.objectContaining({ hostEpoch: leader.host.hostEpoch })]])
})

test('V1 a stock provider that asks for a session that is not there stops asking', async () => {
  const leader = await startTestLeader()
  expect(await closed(watch(leader, 'missing'))).toMatchObject({ code: 4404 })
})

test('Z4 a stock provider with a wrong token gets nothing', async () => {
  const leader = await startTestLeader()
  leader.host.room('s1').doc.getMap('m').set('secret', 1)
  const provider = watch(leader, 's1', 'wrong')
  const [error] = await within(
    new Promise<[Event & { message?: string }]>(
      resolve => void provider.on('connection-error', event => resolve([event as never])),
    ),
    5_000,
    'the refusal',
  )
  expect(error.message).toContain('401')
  expect([provider.synced, provider.doc.getMap('m').size]).toEqual([false, 0])
})

test('E6 a stock provider comes back after a drain', async () => {
  const leader = await startTestLeader()
  leader.host.room('s1')
  const provider = watch(leader, 's1')
  await waitFor(() => provider.synced)
  const ended = once(provider.ws as unknown as WebSocket, 'close')
  await leader.listeners.close({ drain: true })
  expect((await ended)[0]).toBe(4500)
  expect(provider.shouldConnect).toBe(true)
})
