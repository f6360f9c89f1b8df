import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import {
  type Backend,
  type Leader,
  type OfflineStore,
  openStore,
  type RootOwner,
  resolveRoot,
  startLeader,
  tryAcquireRootOwner,
} from '../../leader/index.ts'
import type { Input, OperationName, Result } from '../../schema/commands/index.ts'
import type { ClientActor } from '../../schema/entities/primitives.ts'
import type { TurnSnapshot } from '../../schema/entities/turn.ts'
import type { LedgerRecord } from '../../schema/events.ts'
import { LIMITS } from '../../schema/limits.ts'
import type { WireError } from '../../schema/wire/frames.ts'
import { isolatedEnvironment, useEnvironment } from './environment.ts'
import { testTempDir } from './temp-dir.ts'
import { waitFor } from './wait-for.ts'

/** Two people at two windows. */
export const ADA: ClientActor = { surface: 'desktop', clientInstanceId: 'ada-1' }
/** The second of them. */
export const BOB: ClientActor = { surface: 'tui', clientInstanceId: 'bob-1' }

/** What a leader answers over HTTP: the envelope and the status. */
export type Answer =
  | { readonly ok: true; readonly status: number; readonly result: unknown; readonly revision?: number }
  | { readonly ok: false; readonly status: number; readonly error: WireError }

/** What a test leader starts with. `plant` writes into the root before, while nobody serves it. */
export interface TestLeaderOptions {
  readonly backends?: readonly Backend[]
  readonly plant?: (store: OfflineStore) => Promise<unknown>
}

/** A whole leader in this process on a root of its own, spoken to over its Unix socket. */
export class TestLeader {
  readonly root: string
  #leader: Leader | null = null
  #agent = new Agent({ keepAlive: true, maxSockets: 8 })

  constructor(root: string) {
    this.root = root
  }

  get leader(): Leader {
    if (this.#leader === null) throw new Error('the leader is closed')
    return this.#leader
  }

  async start({ backends = [], plant }: TestLeaderOptions = {}): Promise<void> {
    if (plant !== undefined) await this.offline(plant)
    const owner = await this.#own()
    this.#leader = await startLeader({ owner, backends, port: 'none' })
  }

  /** Drains the leader and releases the root. */
  async close(): Promise<void> {
    const leader = this.#leader
    this.#leader = null
    await leader?.close()
    this.#agent.destroy()
    this.#agent = new Agent({ keepAlive: true, maxSockets: 8 })
  }

  /** Ends this leader and starts another one on the same root. */
  async restart(options: TestLeaderOptions = {}): Promise<void> {
    await this.close()
    await this.start(options)
  }

  /** Opens the root's store while no leader serves it. */
  async offline<T>(use: (store: OfflineStore) => Promise<T>): Promise<T> {
    const owner = await this.#own()
    try {
      const store = await openStore(owner)
      try {
        return await use(store)
      } finally {
        await store.close()
      }
    } finally {
      await owner.close()
    }
  }

  async #own(): Promise<RootOwner> {
    const owner = await tryAcquireRootOwner(await resolveRoot({ path: this.root }))
    if (owner === undefined) throw new Error(`the root is owned: ${this.root}`)
    return owner
  }

  /** Sends an operation, whatever its input looks like. A string is sent as the body itself. */
  async call(operation: string, input: unknown, actor: ClientActor = ADA): Promise<Answer> {
    const { status, body } = await this.http('POST', `/v1/command/${operation}`, {
      body: typeof input === 'string' ? input : JSON.stringify(input),
      headers: { 'x-headwater-surface': actor.surface, 'x-headwater-client': actor.clientInstanceId },
    })
    return { ...(JSON.parse(body.toString()) as Answer), status }
  }

  /** Sends any HTTP request over the leader's socket. */
  http(
    method: string,
    path: string,
    { body, headers = {} }: { readonly body?: string | Uint8Array; readonly headers?: Record<string, string> } = {},
  ): Promise<{ readonly status: number; readonly body: Buffer }> {
    const { socketPath } = this.leader
    return new Promise((resolve, reject) => {
      const sent = request({ socketPath, path, method, headers, agent: this.#agent }, response => {
        const pieces: Buffer[] = []
        response.on('data', piece => pieces.push(piece)).once('error', reject)
        response.once('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(pieces) }))
      })
      sent.once('error', reject).end(body)
    })
  }

  /** The result of an operation that must succeed. */
  async ok<Op extends OperationName>(operation: Op, input: Input<Op>, actor?: ClientActor): Promise<Result<Op>> {
    const answer = await this.call(operation, input, actor)
    if (!answer.ok) throw new Error(`${operation} was refused: ${JSON.stringify(answer.error)}`)
    return answer.result as Result<Op>
  }

  /** The error of an operation that must be refused. */
  async refused<Op extends OperationName>(operation: Op, input: Input<Op>, actor?: ClientActor): Promise<WireError> {
    const answer = await this.call(operation, input, actor)
    if (answer.ok) throw new Error(`${operation} was not refused: ${JSON.stringify(answer.result)}`)
    return answer.error
  }

  async create(sessionId: string, backend = 'scripted'): Promise<void> {
    await this.ok('session.create', { sessionId, cwd: '/', backend })
  }

  async startTurn(sessionId: string, turnId: string, text: string): Promise<TurnSnapshot> {
    return (await this.ok('turn.start', { sessionId, turnId, content: { text } })).turn
  }

  submit(
    sessionId: string,
    messageId: string,
    placement: 'current_turn' | 'next_turn',
    text = messageId,
  ): Promise<Result<'turn.message.submit'>> {
    const { hostEpoch: originHostEpoch } = this.leader
    return this.ok('turn.message.submit', { originHostEpoch, sessionId, messageId, content: { text }, placement })
  }

  /** Waits until a turn has ended. */
  ended(sessionId: string, turnId: string): Promise<TurnSnapshot> {
    return waitFor(
      async () => {
        const turn = await this.ok('turn.query', { sessionId, turnId })
        return 'terminalEventId' in turn ? turn : null
      },
      { what: `the end of ${turnId}` },
    )
  }

  /** The session's whole ledger, read page by page. */
  async ledger(sessionId: string): Promise<readonly LedgerRecord[]> {
    const records: LedgerRecord[] = []
    for (let after: number | null = 0; after !== null; ) {
      const input: Input<'ledger.page'> = { sessionId, after, limit: LIMITS.ledgerPageRecords }
      const page: Result<'ledger.page'> = await this.ok('ledger.page', input)
      records.push(...(page.records as LedgerRecord[]))
      after = page.nextAfter
    }
    return records
  }

  /** Types of the events of each record from a revision on. */
  async transitions(sessionId: string, from = 1): Promise<readonly (readonly string[])[]> {
    const records = await this.ledger(sessionId)
    return records.filter(r => r.revision >= from).map(r => r.events.map(e => e.type))
  }

  async revision(sessionId: string): Promise<number> {
    return (await this.ledger(sessionId)).length
  }
}

/** Starts a leader for the running test; it is closed and its root removed when the test ends. */
export async function startTestLeader(options: TestLeaderOptions = {}): Promise<TestLeader> {
  const directory = testTempDir('l')
  onTestFinished(useEnvironment(isolatedEnvironment(directory)))
  const leader = new TestLeader(join(directory, 'root'))
  onTestFinished(() => leader.close())
  await leader.start(options)
  return leader
}
