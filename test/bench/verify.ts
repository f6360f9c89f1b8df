import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { resolveRoot, tryAcquireRootOwner } from '../../leader/index.ts'
import { openLevelReader } from '../../leader/log/level-store.ts'
import { offlineEnvironment } from '../../leader/offline/offline-environment.ts'
import { openRootStore } from '../../leader/open-root-store.ts'
import { SessionRegistry } from '../../leader/session/registry.ts'
import type { SessionLoop } from '../../leader/session/session-loop.ts'
import type { DomainEvent } from '../../schema/events.ts'
import { isolatedEnvironment, useEnvironment } from '../support/environment.ts'
import { BIN } from '../support/leader-process.ts'
import { type Bench, inDirectory, residentBytes } from './bench.ts'

const SESSIONS = 1_000
const RECORDS_PER_SESSION = 200
const SAMPLE_MS = 20

const FLOOR = 'floor: scan of the raw records'

/** `headwater verify` of a large root, in a process of its own: how fast, and in how much memory; and a bare scan of the same records. */
export const verify: Bench = {
  name: 'verify',
  async run({ report, scale }) {
    await inDirectory(async directory => {
      const restore = useEnvironment(isolatedEnvironment(directory))
      const root = join(directory, 'root')
      const sessions = Math.max(10, Math.round(SESSIONS * scale))
      await makeRoot(root, sessions)
      const records = sessions * RECORDS_PER_SESSION
      report.add({ what: FLOOR, value: records / (await scanSeconds(join(root, 'database'))), unit: 'per_second' })
      const whole = await verifyOnce(root)
      report.add({
        what: `verify ${sessions} sessions, records`,
        value: records / whole.seconds,
        unit: 'per_second',
        against: FLOOR,
      })
      report.add({ what: `verify ${records} records, time`, value: whole.seconds * 1_000, unit: 'ms' })
      report.add({ what: `verify ${records} records, most memory`, value: whole.residentBytes, unit: 'bytes' })
      restore()
    })
  },
}

async function makeRoot(path: string, sessions: number): Promise<void> {
  const owner = await tryAcquireRootOwner(await resolveRoot({ path }))
  if (owner === undefined) throw new Error('the root of the bench is owned')
  const store = await openRootStore(owner)
  const registry = new SessionRegistry(await offlineEnvironment(store))
  for (let at = 0; at < sessions; at += 32) {
    const some = Array.from({ length: Math.min(32, sessions - at) }, (_, index) => `session-${at + index}`)
    await Promise.all(some.map(sessionId => registry.using(sessionId, fill)))
  }
  await store.close()
  await owner.close()
}

async function fill(loop: SessionLoop): Promise<void> {
  const { sessionId } = loop
  const commit = (events: readonly DomainEvent[]): void => void loop.core.commit({ events, actor: 'leader' })
  commit([{ type: 'session_created', payload: { header: headerOf(sessionId) } }])
  let previous: string | null = null
  for (let turn = 0; loop.core.state.revision < RECORDS_PER_SESSION; turn++) {
    for (const events of turnOf(sessionId, turn, previous)) {
      if (loop.core.state.revision < RECORDS_PER_SESSION) commit(events)
    }
    previous = `turn-${turn}`
  }
  await loop.core.whenDurable()
}

function headerOf(sessionId: string) {
  return {
    sessionId,
    title: '',
    titleIsManual: false,
    cwd: '/',
    backend: 'scripted',
    permissionMode: 'ask' as const,
    collaborationMode: 'agent' as const,
    status: 'idle' as const,
    isArchived: false,
    createdAt: 1,
    lastActivityAt: 1,
    revision: 1,
  }
}

function turnOf(
  sessionId: string,
  turn: number,
  previousRootTurnId: string | null,
): readonly (readonly DomainEvent[])[] {
  const at = 1_000 * turn
  const [turnId, runId, toolCallId] = [`turn-${turn}`, `${sessionId}-run-${turn}`, `call-${turn}`]
  const of = { turnId, runId }
  const content = { text: `What about ${turn}? `.repeat(8) }
  const admission = {
    ...of,
    userMessageId: `message-${turn}`,
    normalizedInput: content,
    execution: { kind: 'external_message' as const },
    previousRootTurnId,
    sourceMessages: [],
    submittedBy: null,
    admittedAt: at,
  }
  const eventId = `end-${turn}`
  return [
    [{ type: 'turn_admitted', payload: { admission } }],
    [
      { type: 'run_started', payload: of },
      {
        type: 'user_message_appended',
        payload: { ...of, messageId: `message-${turn}`, content, submittedBy: null, at },
      },
    ],
    [
      {
        type: 'tool_started',
        payload: { ...of, toolCallId, name: 'read', title: 'Read a file', status: 'in_progress', input: '/etc/hosts' },
      },
    ],
    [
      {
        type: 'tool_ended',
        payload: { ...of, toolCallId, status: 'completed', output: 'line of a file\n'.repeat(16) },
      },
    ],
    [
      { type: 'run_completed', payload: { ...of, eventId } },
      { type: 'turn_settled', payload: { ...of, terminalEventId: eventId } },
    ],
  ]
}

async function scanSeconds(databasePath: string): Promise<number> {
  const reader = await openLevelReader({ path: databasePath })
  const from = performance.now()
  let bytes = 0
  for await (const page of reader.entries({ gte: 'l', lt: 'm' })) for (const [, value] of page) bytes += value.length
  const seconds = (performance.now() - from) / 1_000
  await reader.close()
  if (bytes === 0) throw new Error('there are no records')
  return seconds
}

async function verifyOnce(root: string): Promise<{ readonly seconds: number; readonly residentBytes: number }> {
  const from = performance.now()
  const child = spawn(process.execPath, [BIN, '--root', root, 'verify', '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let most = 0
  const sampler = setInterval(() => {
    if (child.pid !== undefined && child.exitCode === null) most = Math.max(most, residentBytes(child.pid) || 0)
  }, SAMPLE_MS)
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  const code = await new Promise<number | null>(resolve => child.once('close', resolve))
  clearInterval(sampler)
  if (code !== 0) throw new Error(`verify ended with ${code}: ${text.slice(0, 2_000)}`)
  return { seconds: (performance.now() - from) / 1_000, residentBytes: most }
}
