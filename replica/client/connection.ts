import type { Input, OperationName, Result } from '../../schema/commands/index.ts'
import type { Content } from '../../schema/entities/content.ts'
import type { CatalogRow, Freshness, SessionProjection } from '../../schema/entities/projection.ts'
import type { TranscriptPage } from '../../schema/entities/transcript.ts'
import { LIMITS } from '../../schema/limits.ts'
import { downloadFrom } from './commands/artifact.ts'
import { operationError } from './commands/errors.ts'
import { readInput } from './commands/inputs.ts'
import { isLargePaste, uploadTo, withLargePaste } from './commands/large-paste.ts'
import { OutstandingCommands } from './commands/outstanding.ts'
import { Copies } from './copies.ts'
import { CATALOG_PATH, SharedDocuments, sessionPath } from './document/shared-documents.ts'
import { FollowedCatalog, FollowedSession } from './document/subscriptions.ts'
import { connectionFreshness, nextFreshness } from './freshness.ts'
import { Link, type LinkedLeader, type LinkOptions } from './link/link.ts'
import type { CloseCause } from './link/machine.ts'
import type {
  CatalogSubscription,
  LeaderConnection,
  RequestOptions,
  SessionSubscription,
  VersionRange,
} from './types.ts'

/** How a first connection went. */
export type FirstOutcome =
  | { readonly kind: 'ready' }
  | { readonly kind: 'closed'; readonly cause: CloseCause; readonly reason: string; readonly leader?: VersionRange }

/** Operations whose content may be a large paste. Source: C1. */
const WITH_CONTENT: ReadonlySet<string> = new Set(['turn.start', 'turn.message.submit', 'queue.edit'])

const OFFLINE: Freshness = Object.freeze({ state: 'offline', asOf: null })

/**
 * A replica's connection to its leader: one link for commands, one document for each session that is followed. It survives losses of the
 * link and restarts of the leader until it is closed or refused. Source: A5, A10, V8–V12.
 */
export class ReplicaConnection implements LeaderConnection {
  readonly closed: Promise<void>
  /** Settles once: the leader is ready, or the connection ended before it ever was. */
  readonly first: Promise<FirstOutcome>
  readonly #link: Link
  readonly #commands: OutstandingCommands
  readonly #documents: SharedDocuments
  readonly #copies: Copies
  readonly #subscriptions = new Set<FollowedSession | FollowedCatalog>()
  readonly #freshnessListeners = new Set<(freshness: Freshness) => void>()
  readonly #epochListeners = new Set<(hostEpoch: string) => void>()
  #leader: LinkedLeader | undefined
  #rootId = ''
  #hostEpoch = ''
  #freshness = OFFLINE
  #isClosing = false
  #settleFirst: (outcome: FirstOutcome) => void = () => {}
  #settleClosed: () => void = () => {}

  constructor(options: LinkOptions) {
    const { surroundings } = options
    this.closed = new Promise(resolve => {
      this.#settleClosed = resolve
    })
    this.first = new Promise(resolve => {
      this.#settleFirst = resolve
    })
    this.#link = new Link(options, {
      ready: leader => this.#onReady(leader),
      dark: () => this.#onDark(),
      frame: frame => this.#commands.take(frame),
      changed: () => this.#refresh(),
      closed: cause => this.#onClosed(cause),
    })
    this.#copies = new Copies(options.copies?.sink, options.copies?.address)
    this.#documents = new SharedDocuments(
      surroundings,
      () => this.#link.leaderTime,
      (path, document, event) => this.#copies.take(path, document, event),
    )
    this.#commands = new OutstandingCommands({
      clock: surroundings.clock,
      newId: () => surroundings.newId(),
      send: frame => this.#link.send(frame),
      included: (sessionId, revision) => this.#documents.get(sessionPath(sessionId))?.included(revision),
    })
  }

  get rootId(): string {
    return this.#rootId
  }

  get hostEpoch(): string {
    return this.#hostEpoch
  }

  get freshness(): Freshness {
    return this.#freshness
  }

  /** Begins to connect; once. */
  start(): void {
    this.#link.start()
  }

  on(event: 'freshness', listener: (freshness: Freshness) => void): () => void
  on(event: 'epoch', listener: (hostEpoch: string) => void): () => void
  on(event: 'freshness' | 'epoch', listener: (value: never) => void): () => void {
    const listeners = (event === 'freshness' ? this.#freshnessListeners : this.#epochListeners) as Set<typeof listener>
    listeners.add(listener)
    return () => listeners.delete(listener)
  }

  request<Op extends OperationName>(operation: Op, input: Input<Op>, options?: RequestOptions): Promise<Result<Op>> {
    const content = WITH_CONTENT.has(operation) ? contentOf(input) : undefined
    // Sent at once where nothing must be uploaded: commands keep the order of their calls.
    const reply = isLargePaste(content)
      ? this.#upload(content).then(fitting =>
          this.#commands.request(operation, { ...input, content: fitting }, options),
        )
      : this.#commands.request(operation, input, options)
    return reply as Promise<Result<Op>>
  }

  status(options?: RequestOptions): Promise<Result<'host.status'>> {
    return this.request('host.status', {}, options)
  }

  createSession(input: Input<'session.create'>, options?: RequestOptions): Promise<Result<'session.create'>> {
    return this.request('session.create', input, options)
  }

  startTurn(input: Input<'turn.start'>, options?: RequestOptions): Promise<Result<'turn.start'>> {
    return this.request('turn.start', input, options)
  }

  stopTurn(input: Input<'turn.stop'>, options?: RequestOptions): Promise<Result<'turn.stop'>> {
    return this.request('turn.stop', input, options)
  }

  queryTurn(input: Input<'turn.query'>, options?: RequestOptions): Promise<Result<'turn.query'>> {
    return this.request('turn.query', input, options)
  }

  submitMessage(input: Input<'turn.message.submit'>, options?: RequestOptions): Promise<Result<'turn.message.submit'>> {
    return this.request('turn.message.submit', input, options)
  }

  answerInteraction(
    input: Input<'interaction.answer'>,
    options?: RequestOptions,
  ): Promise<Result<'interaction.answer'>> {
    return this.request('interaction.answer', input, options)
  }

  queryPlan(input: Input<'plan.query'>, options?: RequestOptions): Promise<Result<'plan.query'>> {
    return this.request('plan.query', input, options)
  }

  controlPlan(input: Input<'plan.control'>, options?: RequestOptions): Promise<Result<'plan.control'>> {
    return this.request('plan.control', input, options)
  }

  startPlanTurn(input: Input<'plan.turn.start'>, options?: RequestOptions): Promise<Result<'plan.turn.start'>> {
    return this.request('plan.turn.start', input, options)
  }

  queryTasks(input: Input<'task.ledger.query'>, options?: RequestOptions): Promise<Result<'task.ledger.query'>> {
    return this.request('task.ledger.query', input, options)
  }

  async transcript(sessionId: string, options: { before?: number; limit?: number } = {}): Promise<TranscriptPage> {
    const { before, limit = LIMITS.transcriptPageEntries } = options
    const page = await this.request('transcript.page', {
      sessionId,
      limit,
      ...(before === undefined ? {} : { before }),
    })
    const shown = this.#documents.get(sessionPath(sessionId))?.value as SessionProjection | undefined
    this.#copies.page(sessionId, shown, page)
    return page
  }

  async openSessionSubscription(input: { sessionId: string }): Promise<SessionSubscription> {
    const { sessionId } = readInput('session.get', input, () => '') as { sessionId: string }
    const held = await this.#documents.open<SessionProjection>(
      sessionPath(sessionId),
      yjs => doc => new yjs.SessionReader(doc),
    )
    const session = new FollowedSession(held, ended => this.#subscriptions.delete(ended))
    this.#subscriptions.add(session)
    return session
  }

  async openCatalog(): Promise<CatalogSubscription> {
    const held = await this.#documents.open<readonly CatalogRow[]>(
      CATALOG_PATH,
      yjs => doc => new yjs.CatalogReader(doc),
    )
    const catalog = new FollowedCatalog(held, this.#hostEpoch, ended => this.#subscriptions.delete(ended))
    this.#subscriptions.add(catalog)
    return catalog
  }

  async *artifact(hash: string): AsyncGenerator<Uint8Array> {
    if (this.#leader === undefined) throw operationError('offline')
    yield* downloadFrom(this.#leader, hash)
  }

  retryNow(): void {
    this.#link.nudge()
  }

  close(): Promise<void> {
    if (!this.#isClosing) {
      this.#isClosing = true
      this.#endAll()
      this.#link.close()
    }
    return this.closed
  }

  async #upload(content: Content): Promise<Content> {
    if (this.#leader === undefined) throw operationError('offline')
    return withLargePaste(content, uploadTo(this.#leader))
  }

  #onReady(leader: LinkedLeader): void {
    this.#leader = leader
    const { rootId, hostEpoch } = leader.accepted
    const isNew = hostEpoch !== this.#hostEpoch
    this.#rootId = rootId
    this.#hostEpoch = hostEpoch
    this.#copies.connected(rootId, hostEpoch)
    this.#refresh()
    this.#documents.connect(leader)
    this.#commands.goLive()
    this.#settleFirst({ kind: 'ready' })
    if (isNew) for (const listener of [...this.#epochListeners]) listener(hostEpoch)
  }

  #onDark(): void {
    this.#leader = undefined
    this.#refresh()
    this.#documents.disconnect()
    this.#commands.goDark()
  }

  #refresh(): void {
    const known = this.#freshness
    const state = connectionFreshness(this.#link.state.kind)
    this.#freshness = nextFreshness(known, state, this.#link.leaderTime)
    if (known.state === state) return
    this.#documents.setConnection(state)
    for (const listener of [...this.#freshnessListeners]) listener(this.#freshness)
  }

  #endAll(): void {
    for (const subscription of [...this.#subscriptions]) subscription.fail()
    this.#documents.close()
    this.#commands.close()
  }

  #onClosed(cause: CloseCause): void {
    this.#isClosing = true
    this.#endAll()
    const { reason, leaderRange } = this.#link
    this.#settleFirst({ kind: 'closed', cause, reason, ...(leaderRange === undefined ? {} : { leader: leaderRange }) })
    void this.#copies.flush().finally(() => this.#settleClosed())
  }
}

function contentOf(input: unknown): unknown {
  return (input as { content?: unknown } | null | undefined)?.content
}
