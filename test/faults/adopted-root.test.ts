import { cpSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { lineageOf } from '../../schema/projection/lineage.ts'
import { agentRoot, textOf } from '../support/live/agent-root.ts'
import { eventsOf, readLedger } from '../support/live/ledger.ts'
import { isRunning } from '../support/live/processes.ts'
import { rootAt, type TestRoot, testRoot } from '../support/live/test-root.ts'
import { runCli, runCliJson } from '../support/run-cli.ts'
import { waitFor } from '../support/wait-for.ts'

const SESSION = { sessionId: 's', cwd: '/tmp', backend: 'scripted' }
const markerOf = (path: string) => JSON.parse(readFileSync(join(path, 'headwater.json'), 'utf8'))
const tokenOf = (path: string) => readFileSync(join(path, 'headwater.token'), 'utf8')
const doctor = (path: string, ...options: string[]) => runCliJson(['--root', path, 'doctor', ...options])

/** A copy beside the root, as `cp -r` makes it. */
function copyOf({ path }: TestRoot): string {
  const copy = `${path}-copy`
  cpSync(path, copy, { recursive: true })
  return copy
}

async function generationOf(root: TestRoot): Promise<string> {
  const connection = await root.connect()
  const { generation } = (await connection.openSessionSubscription({ sessionId: 's' })).current
  await connection.close()
  return generation
}

test('R2 a root that was put back from a copy is refused until it is adopted, and is the same root in a new lineage', {
  timeout: 30_000,
}, async () => {
  const root = testRoot()
  let leader = await root.start()
  const connection = await root.connect()
  await connection.createSession(SESSION)
  await connection.close()
  await leader.stop()
  const { rootId } = markerOf(root.path)
  expect(await doctor(root.path, '--adopt')).toMatchObject({ ok: false, error: { code: 'operation_conflict' } })
  const copy = copyOf(root)
  rmSync(root.path, { recursive: true })
  renameSync(copy, root.path)

  const refused = await runCli(['--root', root.path, 'serve'])
  expect([refused.code, refused.stderr]).toEqual([
    3,
    expect.stringMatching(/headwater --root \S+ doctor --adopt --as-copy/),
  ])
  const told = await runCli(['--root', root.path, 'doctor'])
  expect([told.code, told.stderr]).toEqual([11, expect.stringMatching(/next: headwater --root \S+ doctor --adopt/)])
  const token = tokenOf(root.path)
  expect(await doctor(root.path, '--adopt')).toMatchObject({ ok: true, result: { rootId, formerRootId: rootId } })
  expect([markerOf(root.path).rootId, tokenOf(root.path)]).toEqual([rootId, token])

  leader = await root.start()
  expect(lineageOf(await generationOf(root))).toMatch(/^[0-9a-f]{8}$/)
  expect(await doctor(root.path, '--adopt')).toMatchObject({ ok: false, error: { code: 'operation_conflict' } })
  await leader.stop()
  await root.start()
  expect((await (await root.connect()).request('root.verify', {})).faults).toEqual([])
})

test('R2 a copy beside its original gets an id, a token and a port of its own, and both go on by themselves', {
  timeout: 30_000,
}, async () => {
  const root = testRoot()
  const leader = await root.start({ args: ['--port', '0'] })
  const connection = await root.connect()
  await connection.createSession(SESSION)
  await leader.stop()
  const copy = rootAt(copyOf(root), dirname(root.path))
  await root.start()
  expect(await doctor(copy.path, '--adopt')).toMatchObject({ ok: false, error: { code: 'root_name_taken' } })
  expect(await doctor(copy.path, '--adopt', '--as-copy')).toMatchObject({ ok: true })
  const [original, own] = [markerOf(root.path), markerOf(copy.path)]
  expect([own.rootId === original.rootId, own.port, tokenOf(copy.path) === tokenOf(root.path)]).toEqual([
    false,
    null,
    false,
  ])
  expect(statSync(join(copy.path, 'headwater.token')).mode & 0o777).toBe(0o600)

  await copy.start()
  connection.retryNow()
  await waitFor(() => connection.freshness.state === 'live')
  const other = await copy.connect()
  const update = { sessionId: 's', operationId: 'o', expectedRevision: 1 }
  await connection.request('session.update', { ...update, patch: { title: 'original' } })
  await other.request('session.update', { ...update, patch: { title: 'copy' } })
  const titles = await Promise.all([connection, other].map(c => c.request('session.get', { sessionId: 's' })))
  expect(titles.map(({ session }) => session.title)).toEqual(['original', 'copy'])
  expect([lineageOf(await generationOf(root)), lineageOf(await generationOf(copy))]).toEqual([
    '',
    expect.stringMatching(/^[0-9a-f]{8}$/),
  ])
  expect(markerOf(copy.path).pending).toBe(undefined)
})

test('R2 a directory with a leader at work on it is not adopted', async () => {
  const root = testRoot()
  const leader = await root.start()
  const moved = copyOf(root)
  await leader.stop()
  // The original is gone, and a leader works on what was adopted: adopting it again is refused for that.
  rmSync(root.path, { recursive: true })
  expect(await doctor(moved, '--adopt')).toMatchObject({ ok: true })
  const adopted = rootAt(moved, dirname(root.path))
  await adopted.start()
  const marker = readFileSync(join(moved, 'headwater.json'), 'utf8')
  expect(await doctor(moved, '--adopt', '--as-copy')).toMatchObject({
    ok: false,
    error: { code: expect.stringMatching(/^(operation_conflict|root_owned)$/) },
  })
  expect(readFileSync(join(moved, 'headwater.json'), 'utf8')).toBe(marker)
})

test.runIf(process.platform === 'linux')(
  'R2 X15 a copy of a root that is at work leaves the original’s agents alone',
  { timeout: 30_000 },
  async () => {
    const root = agentRoot({ agent: '' })
    await root.start()
    const connection = await root.connect()
    await connection.createSession({ sessionId: 's', cwd: root.cwd, backend: 'agent' })
    const seen = await connection.openSessionSubscription({ sessionId: 's' })
    await connection.startTurn({ sessionId: 's', turnId: 't', content: { text: 'wait' } })
    await waitFor(() => textOf(seen, 't') === 'waiting')
    const [started] = eventsOf(await readLedger(connection, 's'), 'process_started')
    const { pid = 0 } = (started?.payload.process ?? {}) as { pid?: number }
    const copy = rootAt(copyOf(root), dirname(root.path))
    expect(await doctor(copy.path, '--adopt', '--as-copy')).toMatchObject({ ok: true })
    await copy.start()
    const other = await copy.connect()
    expect(await other.queryTurn({ sessionId: 's', turnId: 't' })).toMatchObject({ failureClass: 'app_restarted' })
    await other.startTurn({ sessionId: 's', turnId: 't2', content: { text: 'echo two' } })
    await waitFor(async () => (await other.queryTurn({ sessionId: 's', turnId: 't2' })).status === 'completed')
    expect(isRunning(pid)).toBe(true)
    expect(await connection.queryTurn({ sessionId: 's', turnId: 't' })).toMatchObject({ status: 'running' })
  },
)

test.each([
  ['emptied', (path: string) => writeFileSync(path, '')],
  ['cut', (path: string) => writeFileSync(path, readFileSync(path).subarray(0, 100))],
  ['gone', (path: string) => rmSync(path)],
] as const)(
  'R2 R7 a marker that is %s stops everyone, and is made anew from its copy',
  { timeout: 30_000 },
  async (_how, damage) => {
    const root = testRoot()
    await (await root.start()).stop()
    const { rootId } = markerOf(root.path)
    damage(join(root.path, 'headwater.json'))
    const told = await runCli(['--root', root.path, 'doctor'])
    expect([told.code, told.stderr]).toEqual([11, expect.stringMatching(/next: headwater --root \S+ doctor --adopt/)])
    expect(await doctor(root.path, '--adopt')).toMatchObject({ ok: true })
    expect(markerOf(root.path)).toMatchObject({ rootId })
    await (await root.start()).stop()
  },
)

test('R2 a damaged marker without a copy is only mended by a backup', { timeout: 30_000 }, async () => {
  const root = testRoot()
  await (await root.start()).stop()
  writeFileSync(join(root.path, 'headwater.json'), '')
  rmSync(join(root.path, 'headwater.json.copy'))
  expect(await doctor(root.path, '--adopt')).toMatchObject({
    ok: false,
    error: { code: 'storage_fault', message: expect.stringContaining('headwater restore') },
  })
})
