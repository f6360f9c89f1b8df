import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { afterEach, expect, test } from 'vitest'
import type { ProcessIdentity } from '../../leader/execution/backend.ts'
import { createDriver } from '../../leader/execution/driver.ts'
import { endProcessGroup, MARK_VARIABLE, readProcessIdentity } from '../../leader/execution/process-identity.ts'
import { FakeArtifacts, FakeRunPort } from '../support/fake-run-port.ts'
import { waitFor } from '../support/wait-for.ts'

const WHOLE = { termMs: 150, killMs: 3_000, withEscaped: true }
const isLinux = process.platform === 'linux'
const children: ChildProcess[] = []

afterEach(() => {
  for (const child of children.splice(0)) {
    if (child.pid !== undefined && isAlive(-child.pid)) process.kill(-child.pid, 'SIGKILL')
  }
})

interface Started {
  readonly child: ChildProcess
  readonly identity: ProcessIdentity
}

/** A child at the head of a group of its own; resolves when it has said that it is ready. */
async function start(script: string): Promise<Started> {
  const mark = randomUUID()
  const env = { ...process.env, [MARK_VARIABLE]: mark }
  const child = spawn('/bin/sh', ['-c', `${script}`], { detached: true, stdio: ['ignore', 'pipe', 'ignore'], env })
  children.push(child)
  await once(child.stdout, 'data')
  const identity = await readProcessIdentity(child.pid ?? 0, mark)
  return { child, identity }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test.runIf(isLinux)('X15 a process group that ignores SIGTERM is ended, its members with it', async () => {
  const { child, identity } = await start('trap "" TERM; sleep 300 & echo $!; wait; wait')
  expect(await endProcessGroup(identity, WHOLE)).toBe('ended')
  await waitFor(() => child.signalCode === 'SIGKILL')
  expect(isAlive(identity.pid)).toBe(false)
})

test.runIf(isLinux)(
  'X15 what a gone process left behind is known by its mark, inside and outside its group',
  async () => {
    const mark = randomUUID()
    const script = 'sleep 301 >/dev/null & a=$!; setsid sleep 302 >/dev/null & echo $a $!'
    const env = { ...process.env, [MARK_VARIABLE]: mark }
    const child = spawn('/bin/sh', ['-c', script], { detached: true, stdio: ['ignore', 'pipe', 'ignore'], env })
    children.push(child)
    const exited = once(child, 'exit')
    const said = once(child.stdout, 'data') as Promise<[Buffer]>
    const identity = await readProcessIdentity(child.pid ?? 0, mark)
    const [output] = await said
    const left = output.toString().trim().split(' ').map(Number)
    await exited
    expect(left.map(isAlive)).toEqual([true, true])
    const [inside = 0, outside = 0] = left
    await waitFor(async () => (await readProcessIdentity(outside, mark)).processGroup !== identity.processGroup)
    expect(await endProcessGroup(identity, { ...WHOLE, withEscaped: false })).toBe('ended')
    await waitFor(() => !isAlive(inside))
    expect(isAlive(outside)).toBe(true)
    expect(await endProcessGroup(identity, WHOLE)).toBe('ended')
    await waitFor(() => left.every(pid => !isAlive(pid)))
  },
)

test.runIf(isLinux).each([
  [
    'another start time',
    (identity: ProcessIdentity) => ({ ...identity, startTicks: identity.startTicks - 1, mark: 'other' }),
  ],
  ['another boot', (identity: ProcessIdentity) => ({ ...identity, bootId: randomUUID() })],
  ['no boot', (identity: ProcessIdentity) => ({ ...identity, bootId: '' })],
])('X15 a process with %s is not the one that was recorded, and is left alone', async (_, change) => {
  const { identity } = await start('echo ready; sleep 300')
  expect(await endProcessGroup(change(identity), WHOLE)).toBe('ended')
  expect(isAlive(identity.pid)).toBe(true)
})

test.runIf(isLinux)('X15 a run begins only after the process of an earlier epoch has ended', async () => {
  const { identity } = await start('echo ready; exec sleep 300')
  let wasAlive: boolean | undefined
  const backend = {
    kind: 'scripted',
    start: async () => {
      wasAlive = isAlive(identity.pid)
    },
  }
  const port = new FakeRunPort({ text: 'x', formerProcess: identity })
  await createDriver({ backends: new Map([['scripted', backend]]), artifacts: new FakeArtifacts() })(port).done
  expect([wasAlive, port.ends]).toEqual([false, [{ kind: 'completed' }]])
})
