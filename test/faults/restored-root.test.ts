import { cpSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'
import type { LeaderConnection, SessionSubscription } from '../../replica/client/types.ts'
import { isTerminal } from '../../schema/entities/turn.ts'
import { lineageOf } from '../../schema/projection/lineage.ts'
import { SessionReader } from '../../schema/projection/read.ts'
import { startCliProcess } from '../support/cli/cli-process.ts'
import { type TestRoot, testRoot } from '../support/live/test-root.ts'
import { runCliJson } from '../support/run-cli.ts'
import { waitFor } from '../support/wait-for.ts'

const LIVE_MS = 20_000

/** A provider as anyone would write it who knows only address and token. */
function watchWithStock(root: TestRoot, url: string): WebsocketProvider {
  const token = readFileSync(join(root.path, 'headwater.token'), 'utf8').trim()
  const provider = new WebsocketProvider(`${url.replace('http', 'ws')}/v1/sync/session`, 's', new Y.Doc(), {
    protocols: ['headwater.v1', `bearer.${token}`],
    WebSocketPolyfill: WebSocket as never,
    disableBc: true,
  })
  onTestFinished(() => provider.destroy())
  return provider
}

/** The user messages a document shows. */
function messagesIn(doc: Y.Doc): readonly string[] {
  const view = { hostEpoch: '', baseRevision: 1, presence: [], presenceCount: 0 }
  return messagesOf(new SessionReader(doc).read(view)?.transcript.entries ?? [])
}

function messagesOf(entries: SessionSubscription['current']['transcript']['entries']): readonly string[] {
  return entries.flatMap(entry => (entry.kind === 'user' ? [entry.content.text] : []))
}

async function runTurn(connection: LeaderConnection, turnId: string): Promise<void> {
  await connection.startTurn({ sessionId: 's', turnId, content: { text: turnId } })
  await waitFor(async () => isTerminal((await connection.queryTurn({ sessionId: 's', turnId })).status), {
    deadlineMs: LIVE_MS,
  })
}

test('V6 V7 V1 BL-11 a root that was put back: ours shows what it holds, a stock copy of the old build is never synced with it', {
  timeout: 90_000,
}, async () => {
  const root = testRoot()
  const copy = join(root.path, '..', 'copy')
  let leader = await root.start()
  const ours = await root.connect()
  await ours.createSession({ sessionId: 's', cwd: root.path, backend: 'scripted' })
  await runTurn(ours, 'old')
  expect(await leader.stop()).toMatchObject({ code: 0 })
  cpSync(join(root.path, 'database'), copy, { recursive: true })

  leader = await root.start()
  ours.retryNow()
  await waitFor(() => ours.freshness.state === 'live', { deadlineMs: LIVE_MS })
  const seen = await ours.openSessionSubscription({ sessionId: 's' })
  const stock = watchWithStock(root, leader.line.url as string)
  await waitFor(() => stock.synced, { deadlineMs: LIVE_MS })
  await runTurn(ours, 'newer')
  await waitFor(() => messagesIn(stock.doc).includes('newer'), { deadlineMs: LIVE_MS })
  const oldGeneration = seen.current.generation
  const live: string[] = []
  onTestFinished(
    seen.onChange(() => {
      if (seen.freshness.state === 'live') live.push(messagesOf(seen.current.transcript.entries).join())
    }),
  )
  expect(await leader.stop()).toMatchObject({ code: 0 })
  rmSync(join(root.path, 'database'), { recursive: true })
  cpSync(copy, join(root.path, 'database'), { recursive: true })
  live.length = 0

  // What was put back is only read: shown as it is, with the newer copy kept aside here.
  leader = await root.start()
  ours.retryNow()
  await waitFor(() => seen.freshness.state === 'live', { deadlineMs: LIVE_MS })
  expect(messagesOf(seen.current.transcript.entries)).toEqual(['old'])
  await waitFor(() => seen.aside !== null, { deadlineMs: LIVE_MS })
  const aside = seen.aside
  expect(messagesOf(aside?.projection.transcript.entries ?? [])).toEqual(['old', 'newer'])
  const refused = ours.startTurn({ sessionId: 's', turnId: 'lost', content: { text: 'lost' } })
  await expect(refused).rejects.toMatchObject({ code: 'root_regressed' })
  await waitFor(() => stock.wsUnsuccessfulReconnects > 0 || !stock.synced, { deadlineMs: LIVE_MS })
  expect(await leader.stop()).toMatchObject({ code: 0 })

  expect(await runCliJson(['--root', root.path, 'doctor', '--accept-regression'])).toMatchObject({ ok: true })
  leader = await root.start()
  ours.retryNow()
  // A build of the new lineage from the first moment on.
  const isRebuilt = () => seen.freshness.state === 'live' && seen.current.generation !== oldGeneration
  await waitFor(isRebuilt, { deadlineMs: LIVE_MS })
  expect([lineageOf(oldGeneration), lineageOf(seen.current.generation)]).toEqual([
    '',
    expect.stringMatching(/^[0-9a-f]{8}$/),
  ])
  expect(messagesOf(seen.current.transcript.entries)).toEqual(['old'])
  await runTurn(ours, 'after')
  await waitFor(() => messagesOf(seen.current.transcript.entries).includes('after'), { deadlineMs: LIVE_MS })
  expect(live.length).toBeGreaterThan(0)
  expect(live.filter(shown => shown.includes('newer'))).toEqual([])
  expect(seen.aside).toBe(aside)

  // The stock copy cannot know better: it is refused again and again, and its content goes nowhere.
  await waitFor(() => stock.wsUnsuccessfulReconnects > 0 || !stock.synced, { deadlineMs: LIVE_MS })
  expect([stock.synced, messagesIn(stock.doc)]).toEqual([false, ['old', 'newer']])
  const fresh = watchWithStock(root, leader.line.url as string)
  await waitFor(() => fresh.synced, { deadlineMs: LIVE_MS })
  const other = await (await root.connect('tui')).openSessionSubscription({ sessionId: 's' })
  expect(messagesIn(fresh.doc)).toEqual(['old', 'after'])
  expect(messagesOf(other.current.transcript.entries)).toEqual(['old', 'after'])
  expect(other.aside).toBe(null)
  expect((await ours.request('root.verify', {})).faults).toEqual([])
})

test('V6 V7 D4 a replica that was away while the root went back and went on keeps aside what is lost', {
  timeout: 60_000,
}, async () => {
  const root = testRoot()
  const copy = join(root.path, '..', 'copy')
  let leader = await root.start()
  const ours = await root.connect()
  await ours.createSession({ sessionId: 's', cwd: root.path, backend: 'scripted' })
  expect(await leader.stop()).toMatchObject({ code: 0 })
  cpSync(join(root.path, 'database'), copy, { recursive: true })
  leader = await root.start()
  ours.retryNow()
  await waitFor(() => ours.freshness.state === 'live', { deadlineMs: LIVE_MS })
  const seen = await ours.openSessionSubscription({ sessionId: 's' })
  await runTurn(ours, 'newer')
  await waitFor(() => messagesOf(seen.current.transcript.entries).includes('newer'), { deadlineMs: LIVE_MS })
  const watch = startCliProcess(['--root', root.path, 'watch', 's'], { isTerminal: true })
  onTestFinished(() => watch.kill())
  await watch.seen('newer')
  expect(await leader.stop()).toMatchObject({ code: 0 })
  rmSync(join(root.path, 'database'), { recursive: true })
  cpSync(copy, join(root.path, 'database'), { recursive: true })
  expect(await runCliJson(['--root', root.path, 'doctor', '--accept-regression'])).toMatchObject({ ok: true })

  leader = await root.start()
  ours.retryNow()
  await waitFor(() => seen.freshness.state === 'live' && seen.aside !== null, { deadlineMs: LIVE_MS })
  expect(messagesOf(seen.aside?.projection.transcript.entries ?? [])).toEqual(['newer'])
  expect(messagesOf(seen.current.transcript.entries)).toEqual([])
  await watch.seen(/the data root of this leader went back: this session is at revision 1 now/)
})
