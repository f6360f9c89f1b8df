import type { CrashPoint } from '../../../leader/session/crash-points.ts'
import type { LeaderConnection } from '../../../replica/client/types.ts'
import type { Input, OperationName } from '../../../schema/commands/index.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { readFacts, repeated } from '../crash/ledger-facts.ts'
import { spawnLeader, startLeaderProcess } from '../leader-process.ts'
import { readLedger } from '../live/ledger.ts'
import { waitFor, within } from '../wait-for.ts'
import { findSession, type Ledgers } from './ledgers.ts'
import type { CustomRow, RowOutcome } from './row.ts'
import { connectTo, type Ending, type RootTemplate } from './template.ts'
import { tell } from './told.ts'

const SESSION = 'struck'
/** Enough edits of two entries that a document nobody follows holds more that is dead than alive. */
const EDITS = 200
const REACH_MS = 20_000

interface Given {
  readonly operation: OperationName
  readonly input: unknown
  readonly answer: Promise<unknown>
}

/** How a crash point is reached: the pass at which the leader dies, and what is asked of it. */
interface Way {
  readonly pass: number
  readonly ending?: Ending
  readonly give?: (client: Commands) => Promise<void>
}

/** Commands of one client, sent again under their identity until they are answered. */
class Commands {
  readonly given: Given[] = []
  readonly #connection: LeaderConnection

  constructor(connection: LeaderConnection) {
    this.#connection = connection
  }

  give<Op extends OperationName>(operation: Op, input: Input<Op>): void {
    const answer = this.#connection.request(operation, input)
    answer.catch(() => {})
    this.given.push({ operation, input, answer })
  }

  /** Resolves when the session is there, so that the others find it. */
  async create(): Promise<void> {
    this.give('session.create', { sessionId: SESSION, cwd: '/', backend: 'scripted' })
    await this.given[0]?.answer
  }

  start(text: string): void {
    this.give('turn.start', { sessionId: SESSION, turnId: 'turn', content: { text } })
  }

  follow(messageId: string): void {
    const { hostEpoch: originHostEpoch } = this.#connection
    const message = { sessionId: SESSION, messageId, originHostEpoch, content: { text: messageId } }
    this.give('turn.message.submit', { ...message, placement: 'next_turn' })
  }
}

async function talk(client: Commands): Promise<void> {
  await client.create()
  client.start('a turn that is struck')
  client.follow('behind')
}

const WAYS: Readonly<Record<CrashPoint, Way>> = {
  after_admission: { pass: 1 },
  after_run_started: { pass: 1 },
  mid_stream: { pass: 2 },
  before_terminal: { pass: 1 },
  after_terminal: { pass: 1 },
  before_batch: { pass: 6 },
  after_batch_before_publish: { pass: 6 },
  mid_compaction: {
    pass: 1,
    give: async client => {
      await client.create()
      client.start('/hold')
      client.follow('one')
      client.follow('two')
      for (let i = 0; i < EDITS; i++) {
        for (const entryId of ['one', 'two']) {
          const operationId = `${entryId}-${i}`
          const edit = { sessionId: SESSION, operationId, entryId, expectedEntryRevision: i + 1 }
          client.give('queue.edit', { ...edit, content: { text: operationId } })
        }
      }
    },
  },
  mid_seal: {
    pass: 1,
    give: async client => {
      await client.create()
      client.start(`/stream ${LIMITS.liveTranscriptBytes + 64 * 1024}`)
    },
  },
  mid_recovery: { pass: 1, ending: 'killed', give: async () => {} },
  mid_delete: {
    pass: 1,
    give: async client => {
      await client.create()
      client.give('session.delete', { sessionId: SESSION, operationId: 'delete', expectedRevision: 1 })
    },
  },
}

/** A leader that is killed at a named point, and its successor. */
export function crashRow(point: CrashPoint): CustomRow {
  return { name: `killed at \`${point}\``, play: template => play(template, point) }
}

async function play(template: RootTemplate, point: CrashPoint): Promise<RowOutcome> {
  const { pass, ending = 'stopped', give = talk } = WAYS[point]
  const acknowledged = template.restore(ending)
  const { root } = template
  const struck = spawnLeader({ root, env: { HEADWATER_CRASH_AT: `${point}:${pass}` } })
  const isReady = await struck.ready.then(
    () => true,
    () => false,
  )
  const connection = isReady ? await connectTo(root) : null
  const client = connection === null ? null : new Commands(connection)
  const giving = client === null ? Promise.resolve() : give(client)
  const exit = await within(struck.exited, REACH_MS, `the crash at ${point}`).catch(() =>
    struck.kill().then(() => null),
  )
  const next = await startLeaderProcess({ root })
  try {
    const after = connection ?? (await connectTo(root))
    after.retryNow()
    await waitFor(() => after.freshness.state === 'live', { what: 'a live connection to the successor' })
    await within(giving, REACH_MS, 'all that is to be given')
    const faults = await inspect(after, acknowledged, client)
    const verify = await tell(template, 'verify')
    const doctor = await tell(template, 'doctor')
    await after.close()
    if (verify.exit !== '0') faults.push(`verify: ${verify.code}`)
    if (exit === null) faults.push('the point was never passed')
    return {
      title: `killed at \`${point}\``,
      sessions: faults.length === 0 ? 'all equal; every command answered, and done once' : 'see the last column',
      leader: exit === null ? 'lives' : `${exit.signal ?? exit.code} there; its successor serves`,
      verify: verify.exit === '0' ? 'no faults' : `exit ${verify.exit}`,
      doctor: doctor.exit === '0' ? 'no faults' : doctor.code === 'usage' ? 'not served' : `exit ${doctor.exit}`,
      remedy: 'nothing to do',
      violations: faults,
    }
  } finally {
    await next.stop()
  }
}

/** Everything that is wrong after the crash. */
async function inspect(
  connection: LeaderConnection,
  acknowledged: Ledgers,
  client: Commands | null,
): Promise<string[]> {
  const faults: string[] = []
  for (const { operation, input, answer } of client?.given ?? []) {
    const settled = await settle(within(answer, REACH_MS, `an answer to ${operation}`))
    // The id of a session that was deleted is used up.
    if (operation === 'session.create' && client?.given.some(one => one.operation === 'session.delete')) continue
    const again = await settle(connection.request(operation, input as Input<typeof operation>))
    // A turn in an answer is shown as it is now, and refusals may differ once the session has moved on.
    if (settled.ok && (!again.ok || withoutTurn(again.value) !== withoutTurn(settled.value))) {
      faults.push(`${operation} is answered differently the second time`)
    }
  }
  for (const [sessionId, hashes] of acknowledged) {
    const found = await findSession(connection, sessionId, hashes)
    if (found !== 'equal') faults.push(`${sessionId} ${found}`)
  }
  faults.push(...(await doneTwice(connection)))
  return faults
}

async function doneTwice(connection: LeaderConnection): Promise<readonly string[]> {
  const there = await settle(connection.request('session.get', { sessionId: SESSION }))
  if (!there.ok) return []
  await waitFor(async () => {
    const { session } = await connection.request('session.get', { sessionId: SESSION })
    return session.status !== 'running' || (await holds(connection))
  })
  const facts = readFacts(await readLedger(connection, SESSION))
  const twice = [...repeated(facts.admitted), ...repeated(facts.executed), ...repeated(facts.settled)]
  return twice.map(id => `${id} was done twice`)
}

/** A turn that goes on until it is stopped. */
async function holds(connection: LeaderConnection): Promise<boolean> {
  const turn = await settle(connection.queryTurn({ sessionId: SESSION, turnId: 'turn' }))
  return turn.ok && !('terminalEventId' in (turn.value as object))
}

type Settled = { readonly ok: true; readonly value: unknown } | { readonly ok: false }

function settle(answer: Promise<unknown>): Promise<Settled> {
  return answer.then(
    value => ({ ok: true, value }),
    () => ({ ok: false }),
  )
}

function withoutTurn(value: unknown): string {
  const { turn: _turn, ...rest } = value as Record<string, unknown>
  return JSON.stringify(rest)
}
