import type { Fault, HostState } from '../../schema/commands/host.ts'
import { findOperation, type Input, receiptScope } from '../../schema/commands/index.ts'
import { readShape } from '../../schema/commands/read-shape.ts'
import { HeadwaterError, isHeadwaterError } from '../../schema/errors.ts'
import { PROTOCOL, VERSION } from '../../schema/version.ts'
import { CLOSE_CODES } from '../../schema/wire/close-codes.ts'
import type { ClientCommand } from '../domain/decide/command.ts'
import type { Store, StoreHealth } from '../log/store.ts'
import { ioRefusal, refusalReply } from '../session/commands/command-desk.ts'
import type { SessionLog } from '../session/environment.ts'
import type { SessionRegistry } from '../session/registry.ts'
import type { Caller, DocumentSubscriber, HostPort, JoinOutcome, JoinRequest, Reply } from '../transport/host-port.ts'
import type { Artifacts } from './artifacts.ts'
import type { Catalog } from './catalog.ts'
import { type Answer, Queries } from './queries.ts'
import { backUpNow, verifyNow } from './root-operations.ts'

/** What the host is made of. */
export interface LeaderHostParts {
  readonly rootId: string
  /** The directory of the root. */
  readonly rootPath: string
  readonly hostEpoch: string
  readonly store: Store
  readonly sessions: SessionRegistry
  readonly artifacts: Artifacts
  readonly catalog: Catalog
  /** Clients whose hello was accepted. Source: V12. */
  readonly connections: () => number
  readonly activeTurns: () => number
  /** What is wrong with the root as a whole. Source: D1, D4. */
  readonly rootFaults?: () => readonly Fault[]
  /** Why nothing may be written, in words with the way out, or null. Source: D4. */
  readonly readOnly?: string | null
  readonly shutdown: (now: boolean) => void
  readonly newId: () => string
  readonly log: Pick<SessionLog, 'error'>
}

/** The leader as its transport sees it: every operation by name, every document by session. Never throws at a client. Source: E2, W2. */
export class LeaderHost implements HostPort {
  readonly rootId: string
  readonly hostEpoch: string
  readonly #parts: LeaderHostParts
  readonly #queries: Queries
  readonly #startedAtMs = performance.now()
  #state: HostState = 'starting'
  #readiness = 'starting'
  #inFlight = 0
  #commands = 0
  readonly #quietWaiters: (() => void)[] = []

  constructor(parts: LeaderHostParts) {
    this.#parts = parts
    this.rootId = parts.rootId
    this.hostEpoch = parts.hostEpoch
    this.#queries = new Queries(parts.store, parts.sessions)
  }

  get state(): HostState {
    return this.#state
  }

  get readiness(): string {
    const { health } = this.#parts.store
    return this.#state === 'ready' && health !== 'ok' ? `storage ${health}` : this.#readiness
  }

  /** Operations that are not answered yet. */
  get inFlight(): number {
    return this.#inFlight
  }

  moveTo(state: HostState, readiness: string = state): void {
    this.#state = state
    this.#readiness = readiness
  }

  get faults(): readonly Fault[] {
    const { store, sessions, rootFaults } = this.#parts
    return [...storageFaults(store.health), ...(rootFaults?.() ?? []), ...sessions.faults]
  }

  async execute(
    operation: string,
    input: unknown,
    caller: Caller,
    onProgress?: (progress: Readonly<Record<string, unknown>>) => void,
  ): Promise<Reply> {
    this.#inFlight += 1
    try {
      return await this.#execute(operation, input, caller, onProgress)
    } catch (error) {
      return this.#refuse(operation, error)
    } finally {
      this.#inFlight -= 1
    }
  }

  /** What was thrown, as a reply. What nobody foresaw is logged: its words may be a user's, and do not leave. */
  #refuse(operation: string, error: unknown): Reply {
    if (!isHeadwaterError(error)) this.#parts.log.error({ operation, err: error }, 'an operation failed')
    return refusalReply(ioRefusal(error))
  }

  /** Resolves when no command on a session is under way. Source: E6. */
  whenQuiet(): Promise<void> {
    if (this.#commands === 0) return Promise.resolve()
    return new Promise(resolve => this.#quietWaiters.push(resolve))
  }

  async #execute(
    operation: string,
    input: unknown,
    caller: Caller,
    onProgress?: (progress: Readonly<Record<string, unknown>>) => void,
  ): Promise<Reply> {
    const found = findOperation(operation)
    this.#assertServed(operation)
    if (found === undefined) {
      throw new HeadwaterError('invalid_request', `operation: '${operation}' is not known here`, { path: 'operation' })
    }
    if (caller.scope === 'watch' && found.kind !== 'query' && operation !== 'host.status')
      throw new HeadwaterError('forbidden')
    const checked = readShape(found.input, input)
    if (found.kind === 'host') return await this.#host(operation, checked, onProgress)
    if (found.kind === 'query') return { ok: true, ...(await this.#query(operation, checked)) }
    return await this.#command({ operation, input: checked } as ClientCommand, caller)
  }

  /** Source: E2. */
  #assertServed(operation: string): void {
    if (this.#state === 'ready' || operation === 'host.status') return
    if (this.#state === 'draining') throw new HeadwaterError('host_draining')
    if (operation !== 'host.shutdown') throw new HeadwaterError('host_not_ready')
  }

  async #command(command: ClientCommand, caller: Caller): Promise<Reply> {
    const { readOnly = null } = this.#parts
    if (readOnly !== null) throw new HeadwaterError('root_regressed', readOnly)
    this.#commands += 1
    try {
      return await this.#send(command, caller)
    } finally {
      this.#commands -= 1
      if (this.#commands === 0) for (const resolve of this.#quietWaiters.splice(0)) resolve()
    }
  }

  async #send(command: ClientCommand, caller: Caller): Promise<Reply> {
    const isNamed = command.operation !== 'interaction.answer' || command.input.sessionId !== undefined
    const identified = this.#identify(isNamed ? command : await this.#nameSession(command.input))
    if (identified.operation !== 'session.fork')
      return await this.#sendTo(identified.input.sessionId as string, identified, caller)
    const { sessionId, newSessionId } = identified.input
    return await this.#parts.sessions.forking(sessionId, () => this.#sendTo(newSessionId, identified, caller))
  }

  /** Where a session may not be there, its lane knows what to say. */
  async #sendTo(sessionId: string, identified: ClientCommand, caller: Caller): Promise<Reply> {
    return await this.#parts.sessions.using(sessionId, loop => {
      const isThere = loop.core.durable.revision > 0 || MAY_BE_ABSENT.has(identified.operation)
      if (!isThere) throw new HeadwaterError('not_found', 'there is no such session')
      return loop.execute(identified, caller)
    })
  }

  /** `interaction.answer` may leave its session out: interaction ids are unique per root. */
  async #nameSession(input: Input<'interaction.answer'>): Promise<ClientCommand> {
    const found = await this.#queries.findInteraction(input.interactionId)
    if (found === null) throw new HeadwaterError('not_found', 'there is no such interaction')
    return { operation: 'interaction.answer', input: { ...input, sessionId: found.sessionId } }
  }

  /** A command sent without an `operationId` gets one nobody can repeat. Source: A5. */
  #identify(command: ClientCommand): ClientCommand {
    if (findOperation(command.operation)?.identity !== 'operationId') return command
    const input = command.input as { operationId?: string }
    if (input.operationId !== undefined) return command
    return { ...command, input: { ...command.input, operationId: this.#parts.newId() } } as ClientCommand
  }

  async #host(
    operation: string,
    input: unknown,
    onProgress?: (progress: Readonly<Record<string, unknown>>) => void,
  ): Promise<Reply> {
    const { store, connections, activeTurns, shutdown } = this.#parts
    if (operation === 'host.status') {
      const { rootId, hostEpoch, state, faults } = this
      const uptimeMs = Math.round(performance.now() - this.#startedAtMs)
      const counts = { connections: connections(), activeTurns: activeTurns() }
      return {
        ok: true,
        result: { rootId, hostEpoch, state, ...counts, uptimeMs, version: VERSION, protocol: PROTOCOL, faults },
      }
    }
    if (operation === 'host.shutdown') {
      shutdown((input as Input<'host.shutdown'>).now === true)
      return { ok: true, result: {} }
    }
    if (operation === 'root.backup') {
      const result = await backUpNow(
        { root: { path: this.#parts.rootPath, rootId: this.rootId }, store },
        input as Input<'root.backup'>,
        onProgress,
      )
      return { ok: true, result }
    }
    const found = await verifyNow(store, onProgress)
    return { ok: true, result: { ...found, faults: [...(this.#parts.rootFaults?.() ?? []), ...found.faults] } }
  }

  async #query(operation: string, input: unknown): Promise<Answer<unknown>> {
    const { sessionId } = input as { readonly sessionId?: string }
    if (sessionId !== undefined && operation !== 'receipt.query') await this.#queries.assertNotDeleted(sessionId)
    return await this.#answer(operation, input)
  }

  #answer(operation: string, input: unknown): Promise<Answer<unknown>> {
    const queries = this.#queries
    switch (operation) {
      case 'session.get':
        return queries.sessionGet(input as Input<'session.get'>)
      case 'session.list':
        return queries.sessionList(input as Input<'session.list'>)
      case 'turn.query':
        return queries.turnQuery(input as Input<'turn.query'>)
      case 'interaction.query':
        return queries.interactionQuery(input as Input<'interaction.query'>)
      case 'interaction.list':
        return queries.interactionList(input as Input<'interaction.list'>)
      case 'transcript.page':
        return queries.transcriptPage(input as Input<'transcript.page'>)
      case 'plan.query':
        return queries.planQuery(input as Input<'plan.query'>)
      case 'task.ledger.query':
        return queries.taskQuery(input as Input<'task.ledger.query'>)
      case 'ledger.page':
        return queries.ledgerPage(input as Input<'ledger.page'>)
      case 'artifact.get':
        return queries.artifactGet(input as Input<'artifact.get'>)
      case 'receipt.query': {
        const asked = input as Input<'receipt.query'>
        return queries.receiptQuery(asked, receiptScope(asked.operation))
      }
      default:
        return Promise.reject(new HeadwaterError('invalid_request', `operation: '${operation}' is not served here`))
    }
  }

  async joinSession(sessionId: string, request: JoinRequest, subscriber: DocumentSubscriber): Promise<JoinOutcome> {
    const refused = this.#joinRefusal()
    if (refused !== null) return refused
    try {
      return await this.#parts.sessions.using(sessionId, ({ core }) =>
        core.durable.revision === 0 ? refuseJoin('not_found', 'not_found') : core.room.join(request, subscriber),
      )
    } catch (error) {
      const isDamaged = isHeadwaterError(error) && error.code === 'session_damaged'
      return isDamaged ? refuseJoin('damaged', 'session_damaged') : refuseJoin('reloading', 'reloading')
    }
  }

  async joinCatalog(request: JoinRequest, subscriber: DocumentSubscriber): Promise<JoinOutcome> {
    return this.#joinRefusal() ?? this.#parts.catalog.room.join(request, subscriber)
  }

  #joinRefusal(): JoinOutcome | null {
    return this.#state === 'ready' ? null : refuseJoin('draining', this.#state)
  }

  async putArtifact(bytes: AsyncIterable<Uint8Array>, mimeType: string): Promise<Reply> {
    try {
      this.#assertServed('artifact.put')
      return { ok: true, result: await this.#parts.artifacts.receive(bytes, mimeType) }
    } catch (error) {
      return this.#refuse('artifact.put', error)
    }
  }

  readArtifact(
    hash: string,
  ): Promise<{ bytes: number; mimeType: string; pieces: AsyncIterable<Uint8Array> } | undefined> {
    return this.#parts.artifacts.open(hash)
  }
}

function storageFaults(health: StoreHealth): readonly Fault[] {
  // A regressed root has a fault of its own, with more to say.
  if (health === 'ok' || health === 'regressed') return []
  return health === 'full' ? [{ code: 'storage_full' }] : [{ code: 'storage_fault', kind: health }]
}

/** Commands that make a session, or that are answered again when it is gone. Source: S1, S5, S6. */
const MAY_BE_ABSENT: ReadonlySet<string> = new Set(['session.create', 'session.fork', 'session.delete'])

function refuseJoin(name: keyof typeof CLOSE_CODES, reason: string): JoinOutcome {
  return { kind: 'refused', closeCode: CLOSE_CODES[name], reason }
}
