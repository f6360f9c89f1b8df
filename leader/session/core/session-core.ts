import type { Actor } from '../../../schema/entities/primitives.ts'
import type { WireErrorCode } from '../../../schema/errors.ts'
import type { DomainEvent } from '../../../schema/events.ts'
import { GENESIS_HASH } from '../../../schema/ids.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { fold } from '../../domain/evolve/fold.ts'
import { initialState, type OpenBlock, type SessionState } from '../../domain/state.ts'
import type { Receipt, RowWrite, SessionHead } from '../../log/store.ts'
import { Room } from '../../projection/room.ts'
import { SessionDocument, type TextChange } from '../../projection/session-document.ts'
import { RecentFacts } from '../commands/recent.ts'
import type { SessionEnvironment } from '../environment.ts'
import type { LoadedSession } from '../load.ts'
import type { StoredReceipt } from '../receipts.ts'
import { encodeJson, encodeRecord } from '../record.ts'
import { type ActiveRow, rowsOf } from '../rows.ts'
import type { Flushable } from '../runs/delta-ticker.ts'
import { type StreamTarget, TextStream } from '../runs/text-stream.ts'
import { type BrokenStep, Pipeline, type Step } from './pipeline.ts'
import { reloadSession } from './reload.ts'
import { rebuildDocument, snapshotLog } from './upkeep.ts'

/** One lane step to be made durable. No events: only the receipt is stored. */
export interface Commit {
  readonly events: readonly DomainEvent[]
  readonly actor: Actor
  /** The receipt, made from the state after the events. */
  readonly receipt?: { readonly scope: string; readonly id: string; readonly of: (next: SessionState) => StoredReceipt }
  readonly rows?: readonly RowWrite[]
  readonly committed?: (durable: SessionState) => void
  readonly failed?: (code: WireErrorCode) => void
}

/** What a core tells its session. */
export interface CoreHooks {
  /** A newer state is durable and published. */
  durable(state: SessionState): void
  /** Nothing may decide until `resumed`: a batch failed, or the document is built anew. */
  paused(): void
  resumed(): void
  /** Events of a run were lost with a failed batch. Source: E7. */
  lost(): void
}

/**
 * A session's state, document and room, and the way of its steps to the disk. `state` is the newest decided one, `durable` the newest that
 * is on disk; whatever leaves is computed from `durable` or waits. Source: A2, A3, E7.
 */
export class SessionCore implements Flushable {
  readonly sessionId: string
  readonly room: Room
  readonly env: SessionEnvironment
  readonly recent = new RecentFacts()
  readonly text: TextStream
  readonly #pipeline: Pipeline
  readonly #hooks: CoreHooks
  #document: SessionDocument
  #state: SessionState
  #durable: SessionState
  #head: SessionHead
  #lastHash: string
  #active: ActiveRow | null
  #fence: number
  #baseRevision: number
  #updatesSinceSnapshot = 0
  #isBusyWithUpkeep = false
  #wentBack = false
  /** Set when this session cannot be written any more in this process. */
  fault: WireErrorCode | null = null
  /** Why recovery found this session damaged, or null. Source: X12. */
  quarantine: string | null = null

  constructor(options: {
    readonly env: SessionEnvironment
    readonly sessionId: string
    readonly loaded: LoadedSession | null
    readonly fence: number
    /** The revision this epoch starts from; null: the present one, or 1 for a session that is not there yet. Source: V4. */
    readonly baseRevision: number | null
    readonly hooks: CoreHooks
  }) {
    const { env, sessionId, loaded } = options
    this.env = env
    this.sessionId = sessionId
    this.#hooks = options.hooks
    this.#fence = options.fence
    this.#state = loaded?.state ?? initialState(sessionId)
    this.#durable = this.#state
    this.#document = loaded?.document ?? SessionDocument.create(env.newId())
    this.#head = loaded?.head ?? { revision: 0, update: 0 }
    this.#lastHash = loaded?.lastHash ?? GENESIS_HASH
    this.#active = loaded?.active ?? null
    this.#baseRevision = options.baseRevision ?? Math.max(1, this.#state.revision)
    this.text = this.#openTextStream()
    if (loaded !== null) this.text.restore(loaded.document.openBlocks())
    this.#pipeline = new Pipeline({
      store: env.store,
      sessionId,
      fence: options.fence,
      onCommitted: step => this.#onCommitted(step),
      onBroken: steps => this.#onBroken(steps),
    })
    this.room = new Room({
      document: this.#document,
      durableNumber: this.#head.update,
      facts: () => this.#facts(),
      clock: env.clock,
      onAhead: () => this.#onAhead(),
    })
  }

  get state(): SessionState {
    return this.#state
  }

  get durable(): SessionState {
    return this.#durable
  }

  /** Where recovery would start to read, or null. */
  get active(): ActiveRow | null {
    return this.#active
  }

  get baseRevision(): number {
    return this.#baseRevision
  }

  /** The state recovery left is the one this epoch starts from. Source: V4. */
  rebase(): void {
    this.#baseRevision = Math.max(1, this.#state.revision)
  }

  /** True when everything decided is durable and no upkeep runs. */
  get isIdle(): boolean {
    return this.#pipeline.isIdle && !this.#pipeline.isBroken && !this.#isBusyWithUpkeep
  }

  get openBlocks(): readonly { readonly meta: OpenBlock; readonly text: string }[] {
    return this.text.open
  }

  /** Why nothing can be written right now, or null. Source: E7, E8. */
  get refusal(): WireErrorCode | null {
    if (this.fault !== null) return this.fault
    const { health } = this.env.store
    if (health === 'full') return 'storage_full'
    if (health === 'fault') return 'storage_fault'
    return health === 'recovering' ? 'persistence_failed' : null
  }

  afterPending(call: (isDurable: boolean) => void): void {
    this.#pipeline.afterPending(call)
  }

  /** Resolves when everything decided so far is durable, or lost. */
  whenDurable(): Promise<void> {
    return new Promise(resolve => this.afterPending(() => resolve()))
  }

  appendText(target: StreamTarget, text: string): Promise<void> {
    return this.text.append(target, text)
  }

  async flushText(): Promise<void> {
    if (this.#pipeline.isBroken) return
    this.text.flush()
    await this.whenDurable()
  }

  /** Applies the events, stores them as one transition, and calls back in order. Everything before the disk happens now. Source: A3. */
  commit(commit: Commit): SessionState {
    const { events } = commit
    if (events.length === 0) {
      this.#commitReceipt(commit)
      return this.#state
    }
    const closes = events.some(e => e.type === 'text_sealed')
    if (closes) this.text.finish()
    const previous = this.#state
    const at = this.env.clock.now()
    const meta = { revision: previous.revision + 1, at, actor: commit.actor, epochNumber: this.env.epochNumber }
    const { state: next, sealed } = fold(previous, events, meta)
    const record = encodeRecord({ ...meta, events, prevHash: this.#lastHash })
    const close = closes ? this.text.close() : null
    const update = this.#document.apply(
      previous.revision === 0 ? null : previous,
      next,
      close === null ? {} : { close: [close] },
    )
    const derived = rowsOf({ previous, next, events, sealed, active: this.#active })
    this.recent.note(previous, events, at)
    this.#state = next
    this.#lastHash = record.hash
    this.#active = derived.active
    this.#push({ commit, record: { revision: next.revision, bytes: record.bytes }, update, rows: derived.rows })
    if (sealed.length > 0) this.env.crash('mid_seal')
    return next
  }

  #commitReceipt(commit: Commit): void {
    if (commit.receipt === undefined && commit.rows === undefined) {
      this.afterPending(isDurable => {
        if (isDurable) commit.committed?.(this.#durable)
        else commit.failed?.('persistence_failed')
      })
      return
    }
    this.#push({ commit, rows: [] })
  }

  #push(made: {
    readonly commit: Commit
    readonly record?: { readonly revision: number; readonly bytes: Uint8Array }
    readonly update?: { readonly number: number; readonly bytes: Uint8Array }
    readonly rows: readonly RowWrite[]
  }): void {
    const { commit, record, update } = made
    const before = this.#head
    this.#head = { revision: record?.revision ?? before.revision, update: update?.number ?? before.update }
    const rows = commit.rows === undefined ? made.rows : [...made.rows, ...commit.rows]
    const receipt = commit.receipt === undefined ? undefined : this.#receiptOf(commit.receipt)
    const state = this.#state
    this.env.crash('before_batch')
    this.#pipeline.push({
      transition: {
        ...(record === undefined ? {} : { record }),
        ...(update === undefined ? {} : { update }),
        ...(receipt === undefined ? {} : { receipt }),
        rows,
      },
      before,
      after: this.#head,
      state,
      lastHash: this.#lastHash,
      active: this.#active,
      committed: () => commit.committed?.(state),
      failed: code => commit.failed?.(code),
    })
  }

  #receiptOf(receipt: NonNullable<Commit['receipt']>): Receipt {
    const stored = receipt.of(this.#state)
    this.recent.receipts.set(`${receipt.scope}\n${receipt.id}`, stored)
    return { operation: receipt.scope, id: receipt.id, body: encodeJson(stored) }
  }

  #openTextStream(): TextStream {
    return new TextStream({
      newId: this.env.newId,
      now: () => this.env.clock.now(),
      requestTick: () => this.env.ticker.request(this),
      whenDurable: () => this.whenDurable(),
      seal: () => this.#sealText(),
      flush: (changes, durable, lost) => this.#flush(changes, durable, lost),
    })
  }

  /** Seals the open block in a transition of its own: it is full, or other text begins. Source: L4. */
  #sealText(): void {
    const [block] = this.openBlocks
    if (block === undefined) return
    const { blockId, kind, messageId, offset, turnId, runId, startedAt } = block.meta
    const payload = { turnId, runId, blockId, kind, messageId, offset, text: block.text, startedAt }
    this.commit({ events: [{ type: 'text_sealed', payload }], actor: 'run', failed: () => this.#hooks.lost() })
  }

  #flush(changes: readonly TextChange[], durable: () => void, lost: () => void): void {
    const update = this.#document.flush(changes, this.env.clock.now())
    const committed = (): void => {
      this.env.crash('mid_stream')
      durable()
    }
    const failed = (): void => {
      lost()
      this.#hooks.lost()
    }
    this.#push({ commit: { events: [], actor: 'run', committed, failed }, update, rows: [] })
  }

  #onCommitted(step: Step): void {
    const { update, record } = step.transition
    this.env.crash('after_batch_before_publish')
    if (update !== undefined) {
      this.room.publish(update.number, update.bytes)
      this.#updatesSinceSnapshot += 1
    }
    if (record !== undefined) {
      this.#durable = step.state
      this.env.onDurable(step.state)
      this.#hooks.durable(step.state)
    }
    if (this.#pipeline.isIdle) this.#upkeep()
  }

  #onBroken(steps: readonly BrokenStep[]): void {
    this.#hooks.paused()
    void reloadSession({
      core: this,
      steps,
      adopt: (loaded, fence) => this.#adopt(loaded, fence),
      publish: step => this.#onCommitted(step),
      giveUp: () => this.#pipeline.restart(this.#fence),
    }).finally(() => this.#hooks.resumed())
  }

  /** Takes what is on disk in place of what was ahead of it. Source: E7. */
  #adopt(loaded: LoadedSession | null, fence: number): void {
    this.#fence = fence
    this.#state = loaded?.state ?? initialState(this.sessionId)
    this.#durable = this.#state
    this.#document = loaded?.document ?? SessionDocument.create(this.env.newId())
    this.#head = loaded?.head ?? { revision: 0, update: 0 }
    this.#lastHash = loaded?.lastHash ?? GENESIS_HASH
    this.#active = loaded?.active ?? null
    this.recent.clear()
    this.text.restore(loaded?.document.openBlocks() ?? [])
    this.room.replaceDocument(this.#document, this.#head.update)
    this.#pipeline.restart(fence)
  }

  #facts() {
    return {
      hostEpoch: this.env.hostEpoch,
      baseRevision: this.#baseRevision,
      generation: this.#document.generation,
      ...(this.quarantine === null ? {} : { isDamaged: true }),
      ...(this.#wentBack ? { wentBack: true } : {}),
    }
  }

  /** A replica of this generation knows more than the leader: the root went back. Once per session and epoch. Source: V6. */
  #onAhead(): void {
    if (this.#wentBack) return
    this.#wentBack = true
    this.env.metrics.wentBack()
    this.env.log.warn({ session_id: this.sessionId }, 'a replica is ahead of the leader: this root went back')
    this.rebuild()
  }

  /** Small chores when the session has come to rest: shed garbage, shorten the log. Source: V7, A7. */
  #upkeep(): void {
    if (this.#isBusyWithUpkeep || this.fault !== null) return
    if (this.#document.isRebuildDue(this.room.subscribers > 0)) this.rebuild()
    else if (this.#updatesSinceSnapshot >= LIMITS.updatesPerSnapshot) void this.#shorten()
  }

  async #shorten(): Promise<void> {
    this.#isBusyWithUpkeep = true
    this.#updatesSinceSnapshot = 0
    await snapshotLog(this.env, this.sessionId, this.#fence, this.#document)
    this.#isBusyWithUpkeep = false
  }

  /** Builds the document anew under a new generation; nothing decides meanwhile. Source: V7. */
  rebuild(): void {
    if (this.#isBusyWithUpkeep) return
    this.#isBusyWithUpkeep = true
    this.#hooks.paused()
    void rebuildDocument({
      env: this.env,
      sessionId: this.sessionId,
      fence: this.#fence,
      whenDurable: () => this.whenDurable(),
      build: () => this.#document.rebuild(this.#state, this.env.newId()),
      adopt: document => {
        this.#document = document
        this.#updatesSinceSnapshot = 0
        this.room.newGeneration(document, document.number)
      },
    }).finally(() => {
      this.#isBusyWithUpkeep = false
      this.#hooks.resumed()
    })
  }
}
