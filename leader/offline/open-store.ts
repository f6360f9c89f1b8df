import { normalizeContent } from '../../schema/canonical.ts'
import { commands, type Input } from '../../schema/commands/index.ts'
import { PlanContent } from '../../schema/entities/plan.ts'
import type { SessionHeader } from '../../schema/entities/session.ts'
import { type Admission, claimFault, type Run, type UserMessage } from '../../schema/entities/turn.ts'
import { HeadwaterError } from '../../schema/errors.ts'
import { type DomainEvent, eventIdAt, isTerminalEvent, type LedgerEvent, type RunEvent } from '../../schema/events.ts'
import { originOf } from '../domain/decide/run.ts'
import { newHeader } from '../domain/decide/session.ts'
import { event } from '../domain/decision.ts'
import type { TurnFacts } from '../domain/facts.ts'
import type { SessionState } from '../domain/state.ts'
import { readLineage } from '../lineage.ts'
import { openLevelReader } from '../log/level-store.ts'
import { openMemoryStore } from '../log/memory-store.ts'
import type { RootOwner } from '../log/root/owner.ts'
import type { RootReader } from '../log/root/reader.ts'
import type { RowWrite, Store } from '../log/store.ts'
import { openRootStore } from '../open-root-store.ts'
import { newGeneration } from '../session/core/generation.ts'
import { encodeJson } from '../session/record.ts'
import { SessionRegistry } from '../session/registry.ts'
import type { SessionLoop } from '../session/session-loop.ts'
import type { Imported, ImportHead, ImportItem } from './import/import-item.ts'
import { importSession } from './import/import-session.ts'
import { endImport } from './import/unfinished-import.ts'
import { offlineEnvironment } from './offline-environment.ts'
import { OfflineReader } from './offline-reader.ts'
import type {
  OfflineStore,
  PlantedChild,
  PlantedEvent,
  PlantedMessage,
  PlantedProposal,
  PlantedRun,
  ProposalResult,
} from './offline-store.ts'
import { checkPayload, checkShape, PLANTED } from './planting.ts'
import { ReadOnlyStore } from './read-only-store.ts'
import { submitProposal } from './submit-proposal.ts'

/** Opens the store of an owned or viewed root. Errors: `storage_fault`, `invalid_lease`; writers of a reader: `invalid_lease`. */
export async function openStore(claim: RootOwner | RootReader): Promise<OfflineStore> {
  if (claim.closed) throw new HeadwaterError('invalid_lease')
  if ('isEmpty' in claim) {
    const reader = claim.isEmpty ? await openMemoryStore() : await openLevelReader({ path: claim.databasePath })
    return new ReadOnlyStore(reader)
  }
  const store = await openRootStore(claim)
  if (store.regression === null) await endImport(store)
  const env = await offlineEnvironment(store)
  return new WritableStore(store, new SessionRegistry(env), claim)
}

class WritableStore extends OfflineReader implements OfflineStore {
  readonly #store: Store
  readonly #sessions: SessionRegistry
  readonly #owner: RootOwner
  /** One import after the other. */
  #importing: Promise<unknown> = Promise.resolve()

  constructor(store: Store, sessions: SessionRegistry, owner: RootOwner) {
    super(store)
    this.#store = store
    this.#sessions = sessions
    this.#owner = owner
  }

  async createSession(input: Input<'session.create'>): Promise<SessionHeader> {
    return await this.#create(newHeader(checkShape(commands['session.create'].input, input), Date.now()))
  }

  async createChildSession(input: PlantedChild): Promise<SessionHeader> {
    const { parent, ...created } = checkShape(PLANTED.child, input)
    return await this.#create({ ...newHeader(created, Date.now()), parent })
  }

  async submitPlanProposal(input: PlantedProposal): Promise<ProposalResult> {
    const { operationId, sessionId, turnId, ...given } = checkShape(PLANTED.proposal, input)
    const content = checkShape(PlanContent, given)
    return await this.#with(sessionId, async loop => {
      const facts = await this.#factsOfTurn(sessionId, turnId)
      const runId = facts?.runs[0]?.runId ?? facts?.admission?.runId ?? null
      return await submitProposal(loop, operationId, { turnId, runId, content })
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

  async importSession(head: ImportHead, items: AsyncIterable<ImportItem>): Promise<Imported> {
    if (this.#owner.closed) throw new HeadwaterError('invalid_lease')
    const { env } = this.#sessions
    const { id } = await readLineage(this.#store)
    const ports = { store: this.#store, now: env.clock.now, generation: () => newGeneration({ ...env, lineage: id }) }
    const importing = this.#importing.then(() => importSession(ports, head, items))
    this.#importing = importing.catch(() => {})
    return await importing
  }

  async close(): Promise<void> {
    await this.#importing
    await this.#store.close()
  }

  #create(header: SessionHeader): Promise<SessionHeader> {
    return this.#sessions.using(header.sessionId, async loop => {
      if (loop.core.state.revision > 0 || loop.core.state.isDeleted === true)
        throw new HeadwaterError('operation_conflict', 'a session with this id exists already')
      return headerOf(await this.#plant(loop, [event('session_created', { header })]))
    })
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
