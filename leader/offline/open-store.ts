import { normalizeContent } from '../../schema/canonical.ts'
import { commands, type Input } from '../../schema/commands/index.ts'
import type { Content } from '../../schema/entities/content.ts'
import type { SessionHeader } from '../../schema/entities/session.ts'
import { type Admission, claimFault, type Run, type UserMessage } from '../../schema/entities/turn.ts'
import { HeadwaterError } from '../../schema/errors.ts'
import { type DomainEvent, eventIdAt, isTerminalEvent, type LedgerEvent, type RunEvent } from '../../schema/events.ts'
import { originOf } from '../domain/decide/run.ts'
import { newHeader } from '../domain/decide/session.ts'
import { event } from '../domain/decision.ts'
import type { TurnFacts } from '../domain/facts.ts'
import type { SessionState } from '../domain/state.ts'
import { openLevelReader } from '../log/level-store.ts'
import { openMemoryStore } from '../log/memory-store.ts'
import type { RootOwner } from '../log/root/owner.ts'
import type { RootReader } from '../log/root/reader.ts'
import type { RowWrite, Store } from '../log/store.ts'
import { openRootStore } from '../open-root-store.ts'
import { encodeJson } from '../session/record.ts'
import { SessionRegistry } from '../session/registry.ts'
import type { SessionLoop } from '../session/session-loop.ts'
import { offlineEnvironment } from './offline-environment.ts'
import { OfflineReader } from './offline-reader.ts'
import { checkPayload, checkShape, PLANTED } from './planting.ts'

/**
 * A root without a running leader, for import, repair and tests. Writers need an owner; each is one synced batch and keeps the indexes that recovery
 * reads. Shapes are checked, states are not: it plants exactly what it is told. Source: interfaces 3.
 */
export interface OfflineStore extends Omit<OfflineReader, 'reader' | 'factsOf'> {
  createSession(input: Input<'session.create'>): Promise<SessionHeader>
  archiveSession(input: { readonly sessionId: string }): Promise<SessionHeader>
  admitTurn(input: { readonly sessionId: string } & Admission): Promise<Admission>
  createRun(input: PlantedRun): Promise<Run>
  appendUserMessage(input: PlantedMessage): Promise<UserMessage>
  appendRunEvent(input: PlantedEvent): Promise<RunEvent>
  /** Does not release the owner or reader. */
  close(): Promise<void>
}

/** A run to write as it is given, not ended. */
export interface PlantedRun {
  readonly sessionId: string
  readonly turnId: string
  readonly runId: string
  readonly agentId?: string
  readonly agentName?: string
  readonly resumedFromRunId?: string
  readonly retriedFromRunId?: string
}

/** A user's message to write; it is not compared with the admission. `at` is now where it is absent. */
export interface PlantedMessage {
  readonly sessionId: string
  readonly turnId: string
  readonly messageId: string
  readonly content: Content
  readonly at?: number
}

/** An event of a run to write, also a terminal one; the turn's snapshot is left alone. */
export interface PlantedEvent {
  readonly sessionId: string
  readonly runId: string
  readonly type: string
  readonly payload: Readonly<Record<string, unknown>>
}

/** Opens the store of an owned or viewed root. Errors: `storage_fault`, `invalid_lease`; writers of a reader: `invalid_lease`. */
export async function openStore(claim: RootOwner | RootReader): Promise<OfflineStore> {
  if (claim.closed) throw new HeadwaterError('invalid_lease')
  if ('isEmpty' in claim) {
    const reader = claim.isEmpty ? await openMemoryStore() : await openLevelReader({ path: claim.databasePath })
    return new ReadOnlyStore(reader)
  }
  const store = await openRootStore(claim)
  const env = await offlineEnvironment(store)
  return new WritableStore(store, new SessionRegistry(env), claim)
}

class ReadOnlyStore extends OfflineReader implements OfflineStore {
  readonly #closable: { close(): Promise<void> }

  constructor(reader: ConstructorParameters<typeof OfflineReader>[0] & { close(): Promise<void> }) {
    super(reader)
    this.#closable = reader
  }

  createSession(): Promise<SessionHeader> {
    return readOnly()
  }

  archiveSession(): Promise<SessionHeader> {
    return readOnly()
  }

  admitTurn(): Promise<Admission> {
    return readOnly()
  }

  createRun(): Promise<Run> {
    return readOnly()
  }

  appendUserMessage(): Promise<UserMessage> {
    return readOnly()
  }

  appendRunEvent(): Promise<RunEvent> {
    return readOnly()
  }

  async close(): Promise<void> {
    await this.#closable.close()
  }
}

function readOnly(): Promise<never> {
  return Promise.reject(new HeadwaterError('invalid_lease', 'a reader cannot write; acquire the root as owner'))
}

class WritableStore extends OfflineReader implements OfflineStore {
  readonly #store: Store
  readonly #sessions: SessionRegistry
  readonly #owner: RootOwner

  constructor(store: Store, sessions: SessionRegistry, owner: RootOwner) {
    super(store)
    this.#store = store
    this.#sessions = sessions
    this.#owner = owner
  }

  async createSession(input: Input<'session.create'>): Promise<SessionHeader> {
    const checked = checkShape(commands['session.create'].input, input)
    return await this.#sessions.using(checked.sessionId, async loop => {
      if (loop.core.state.revision > 0)
        throw new HeadwaterError('operation_conflict', 'a session with this id exists already')
      const header = newHeader(checked, Date.now())
      return headerOf(await this.#plant(loop, [event('session_created', { header })]))
    })
  }

  async archiveSession({ sessionId }: { readonly sessionId: string }): Promise<SessionHeader> {
    return await this.#with(sessionId, async loop => headerOf(await this.#plant(loop, [event('session_archived', {})])))
  }

  async admitTurn(input: { readonly sessionId: string } & Admission): Promise<Admission> {
    const { sessionId, ...given } = input
    const admission = checkShape(PLANTED.admission, given)
    const fault = claimFault(admission, sessionId)
    if (fault !== null) {
      const path = `execution.claim.${fault}`
      throw new HeadwaterError('invalid_request', `${path}: names another session`, { path })
    }
    await this.#with(sessionId, loop => this.#plant(loop, [event('turn_admitted', { admission })]))
    return admission
  }

  async createRun(input: PlantedRun): Promise<Run> {
    const { sessionId, ...run } = checkShape(PLANTED.run, input)
    return await this.#with(sessionId, async loop => {
      const facts = await this.#factsOfTurn(sessionId, run.turnId)
      const regenerated = facts?.admission?.execution.kind === 'regenerate' ? originOf(facts.admission) : {}
      await this.#plant(loop, [event('run_created', { ...regenerated, ...run })], facts)
      return await this.readRun(sessionId, run.runId)
    })
  }

  async appendUserMessage(input: PlantedMessage): Promise<UserMessage> {
    const { sessionId, turnId, messageId, content, at = Date.now() } = checkShape(PLANTED.userMessage, input)
    return await this.#with(sessionId, async loop => {
      const facts = await this.#factsOfTurn(sessionId, turnId)
      const message = {
        messageId,
        turnId,
        runId: facts?.runs[0]?.runId ?? facts?.admission?.runId ?? '',
        content: normalizeContent(content),
        submittedBy: facts?.admission?.submittedBy ?? null,
        at,
      }
      await this.#plant(loop, [event('user_message_appended', message)], facts)
      return message
    })
  }

  async appendRunEvent(input: PlantedEvent): Promise<RunEvent> {
    const { sessionId, runId, type, payload: given } = checkShape(PLANTED.runEvent, input)
    return await this.#with(sessionId, async loop => {
      const turns = await this.factsOf(sessionId)
      const facts =
        turns.find(t => t.runs.some(r => r.runId === runId)) ?? turns.find(t => t.admission?.runId === runId)
      if (facts === undefined) throw new HeadwaterError('not_found', 'there is no such run')
      const eventId = eventIdAt(loop.core.state.revision + 1, 0)
      const own = isTerminalEvent(type) ? { eventId } : {}
      const payload = { ...checkPayload(type, given), turnId: facts.turnId, runId, ...own }
      const planted: LedgerEvent = { type, payload }
      const { revision, at } = await this.#plant(loop, [planted as unknown as DomainEvent], facts)
      return { eventId, sessionId, turnId: facts.turnId, runId, type, payload, revision, at }
    })
  }

  async close(): Promise<void> {
    await this.#store.close()
  }

  /** Works with a session that is there; it stays loaded until the work is done. */
  async #with<T>(sessionId: string, work: (loop: SessionLoop) => Promise<T>): Promise<T> {
    if (this.#owner.closed) throw new HeadwaterError('invalid_lease')
    return await this.#sessions.using(sessionId, loop => {
      if (loop.core.durable.revision === 0) throw new HeadwaterError('not_found', 'there is no such session')
      return work(loop)
    })
  }

  async #factsOfTurn(sessionId: string, turnId: string): Promise<TurnFacts | undefined> {
    return (await this.factsOf(sessionId)).find(turn => turn.turnId === turnId)
  }

  /** One transition, durable when it resolves. Facts about a turn keep the session in the index that recovery reads. */
  #plant(loop: SessionLoop, events: readonly DomainEvent[], facts?: TurnFacts): Promise<SessionState> {
    if (this.#owner.closed) return Promise.reject(new HeadwaterError('invalid_lease'))
    return new Promise((resolve, reject) => {
      const commit = (): void => {
        loop.core.commit({
          events,
          rows: facts === undefined ? [] : [activeRow(loop, facts)],
          actor: 'leader',
          committed: resolve,
          failed: code => reject(new HeadwaterError(code)),
        })
      }
      loop.lane.run(commit, reject)
    })
  }
}

function activeRow(loop: SessionLoop, facts: TurnFacts): RowWrite {
  const known = loop.core.active
  const since = facts.admittedRevision || loop.core.state.revision
  const row =
    known !== null && known.since <= since
      ? known
      : { since, previousRootTurnId: facts.admission?.previousRootTurnId ?? null }
  return { kind: 'active', id: loop.sessionId, value: encodeJson(row) }
}

function headerOf(state: SessionState): SessionHeader {
  return state.header as SessionHeader
}
