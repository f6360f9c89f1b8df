import type { WireErrorCode } from '../../../schema/errors.ts'
import { fold } from '../../domain/evolve/fold.ts'
import type { SessionState } from '../../domain/state.ts'
import { Room } from '../../projection/room.ts'
import type { RoomFacts } from '../../projection/room-document.ts'
import type { TextChange } from '../../projection/session-document.ts'
import { RecentFacts } from '../commands/recent.ts'
import type { SessionEnvironment } from '../environment.ts'
import { EMPTY_LOG, type LoadedSession, type LogSize } from '../load.ts'
import type { StoredReceipt } from '../receipts.ts'
import { encodeJson, encodeRecord } from '../record.ts'
import { type ActiveRow, rowsOf } from '../rows.ts'
import type { Flushable } from '../runs/delta-ticker.ts'
import { type OpenText, type StreamTarget, TextStream } from '../runs/text-stream.ts'
import { type Commit, type CoreHooks, type CoreOptions, fallBack, type Standing, standingOf } from './commit.ts'
import { Pipeline, type Step } from './pipeline.ts'
import { Repair, whenStoreSettled } from './repair.ts'
import { Upkeep } from './upkeep.ts'

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
  readonly #upkeep: Upkeep
  readonly #repair: Repair
  #at: Standing
  #baseRevision: number
  #wentBack: boolean
  #pauses = 0
  #fault: WireErrorCode | null = null
  /** Why this session is damaged, or null. Source: A9, X12. */
  quarantine: string | null = null

  constructor(options: CoreOptions) {
    const { env, sessionId, loaded, fence } = options
    this.env = env
    this.sessionId = sessionId
    this.#hooks = options.hooks
    this.#at = standingOf(loaded, options)
    this.#baseRevision = options.baseRevision ?? Math.max(1, this.state.revision)
    this.#wentBack = options.wentBack ?? false
    this.text = this.#openTextStream()
    if (loaded !== null) this.text.restore(loaded.document.openBlocks())
    this.#pipeline = new Pipeline({
      store: env.store,
      sessionId,
      fence,
      onCommitted: step => this.#tell(() => this.#publish(step)),
      onFailure: () => this.#pause(),
      onBroken: steps => this.#repair.start(steps),
    })
    this.#repair = this.#openRepair()
    this.#upkeep = this.#openUpkeep(loaded?.log ?? EMPTY_LOG)
    this.room = new Room({
      document: this.#at.document,
      durableNumber: this.#at.head.update,
      facts: () => this.#facts(),
      clock: env.clock,
      onAhead: () => this.#onAhead(),
    })
  }

  get state(): SessionState {
    return this.#at.state
  }

  get durable(): SessionState {
    return this.#at.durable
  }

  /** The number that lets this session be written. */
  get fence(): number {
    return this.#at.fence
  }

  /** Where recovery would start to read, or null. */
  get active(): ActiveRow | null {
    return this.#at.active
  }

  get baseRevision(): number {
    return this.#baseRevision
  }

  /** True when a replica was ahead of this session in this epoch. Source: V6. */
  get wentBack(): boolean {
    return this.#wentBack
  }

  /** Why this session alone cannot be written any more in this process, or null. */
  get fault(): WireErrorCode | null {
    return this.#fault
  }

  /** The state recovery left is the one this epoch starts from. Source: V4. */
  rebase(): void {
    this.#baseRevision = Math.max(1, this.state.revision)
  }

  /** True when everything decided is durable and nothing is being repaired or kept up. */
  get isIdle(): boolean {
    return this.#pipeline.isIdle && this.#repair.running === null && !this.#upkeep.isBusy
  }

  /** Steps decided but not yet durable. */
  get lag(): number {
    return this.#pipeline.length
  }

  /** True while nobody knows whether the last steps are stored: what would build on them cannot be answered. Source: E7. */
  get isInLimbo(): boolean {
    return this.#repair.isInLimbo
  }

  get openBlocks(): readonly OpenText[] {
    return this.text.open
  }

  /** Why nothing can be written right now, or null. Source: E7, E8. */
  get refusal(): WireErrorCode | null {
    if (this.#fault !== null) return this.#fault
    const { health } = this.env.store
    if (health === 'full') return 'storage_full'
    if (health === 'fault') return 'storage_fault'
    if (health === 'regressed') return 'root_regressed'
    return health === 'recovering' || this.isInLimbo ? 'persistence_failed' : null
  }

  /** Resolves when this session can be written again; rejects when it never can in this process. */
  async whenWritable(): Promise<void> {
    for (;;) {
      if (this.#fault !== null) throw new Error(`the session cannot be written: ${this.#fault}`)
      if (this.#repair.running !== null) await this.#repair.running
      else if (this.env.store.health === 'ok') return
      else await whenStoreSettled(this.env.store, { writable: true })
    }
  }

  afterPending(call: (isDurable: boolean) => void): void {
    this.#pipeline.afterPending(call)
  }

  /** True when everything decided so far became durable, false when it was lost or is not known. */
  whenDurable(): Promise<boolean> {
    return new Promise(resolve => this.afterPending(resolve))
  }

  /** Adds streamed text, in the lane; resolves when it is durable. */
  appendText(target: StreamTarget, text: string): Promise<void> {
    return this.text.append(target, text)
  }

  async flushText(): Promise<void> {
    // What cannot be flushed now is asked for again when the session goes on.
    if (this.#pauses > 0 || this.#pipeline.isBroken) return
    try {
      this.text.flush()
    } catch (error) {
      this.env.log.error({ session_id: this.sessionId, err: error }, 'streamed text could not be written')
      this.#loseText()
    }
    await this.whenDurable()
  }

  /** The store lost this session's claim: what is on disk may be newer than what is known here. */
  claimLost(): void {
    // Steps and chores in flight are refused then, and bring about the same.
    if (this.isIdle && this.env.store.health !== 'fault') this.#reload()
  }

  /** Nothing can be written any more, in any session. */
  storageFailed(): void {
    if (this.#repair.running !== null) return
    this.#loseText()
    this.#hooks.gaveUp(null)
  }

  /**
   * Applies the events, stores them as one transition, and calls back in order. Everything before the disk happens now; while the session
   * cannot be written `failed` is called at once. If it throws, nothing has changed but that text was flushed. Source: A3.
   */
  commit(commit: Commit): SessionState {
    const refusal = this.#fault ?? (this.isInLimbo ? 'persistence_failed' : null)
    if (refusal !== null) commit.failed?.(refusal)
    else if (this.state.isDeleted === true) commit.failed?.('not_found')
    else if (commit.events.length > 0) this.#transit(commit)
    else if (commit.receipt !== undefined || commit.rows !== undefined) this.#commitReceipt(commit)
    else this.#commitNothing(commit)
    return this.state
  }

  #commitReceipt(commit: Commit): void {
    const stored = commit.receipt?.of(this.state)
    this.#push(commit, { rows: commit.rows ?? [], ...this.#noted(commit, stored) })
  }

  #commitNothing(commit: Commit): void {
    this.afterPending(isDurable => {
      if (isDurable) commit.committed?.(this.durable)
      else commit.failed?.('persistence_failed')
    })
  }

  #transit(commit: Commit): void {
    const { events } = commit
    const isClosing = events.some(e => e.type === 'text_sealed')
    if (isClosing) this.text.finish()
    const at = this.#at
    const previous = at.state
    const now = this.env.clock.now()
    const meta = { revision: previous.revision + 1, at: now, actor: commit.actor, epochNumber: this.env.epochNumber }
    const { state: next, sealed } = fold(previous, events, meta)
    const record = encodeRecord({ ...meta, events, prevHash: at.lastHash })
    const derived = rowsOf({ previous, next, events, sealed, active: at.active })
    const stored = commit.receipt?.of(next)
    const close = isClosing ? this.openBlocks.map(block => block.meta.blockId) : []
    const startMs = this.env.clock.monotonicMs()
    const update = at.document.apply(previous.revision === 0 ? null : previous, next, { close })
    this.env.metrics.projected((this.env.clock.monotonicMs() - startMs) / 1000)
    // From here on nothing may fail: the document has moved on.
    if (isClosing) this.text.close()
    this.recent.note(previous, events, now)
    at.state = next
    at.lastHash = record.hash
    at.active = derived.active
    if (sealed.length > 0) this.env.crash('mid_seal')
    const rows = commit.rows === undefined ? derived.rows : [...derived.rows, ...commit.rows]
    this.#push(commit, {
      record: { revision: next.revision, bytes: record.bytes },
      update,
      rows,
      ...this.#noted(commit, stored),
    })
  }

  #noted({ receipt }: Commit, stored: StoredReceipt | undefined): Pick<Step['transition'], 'receipt'> {
    if (receipt === undefined || stored === undefined) return {}
    const { scope, id } = receipt
    this.recent.noteReceipt(scope, id, stored)
    return { receipt: { operation: scope, id, body: encodeJson({ ...stored, revision: this.state.revision }) } }
  }

  #push(commit: Commit, transition: Step['transition']): void {
    const at = this.#at
    const { record, update } = transition
    const before = at.head
    const { state } = at
    if (record !== undefined || update !== undefined) {
      at.head = { revision: record?.revision ?? before.revision, update: update?.number ?? before.update }
    }
    this.env.crash('before_batch')
    this.#pipeline.push({
      transition,
      before,
      after: at.head,
      state,
      committed: () => this.#tell(() => commit.committed?.(state)),
      failed: code => this.#tell(() => commit.failed?.(code)),
      unknown: () => this.#tell(() => commit.unknown?.()),
    })
  }

  /** What listens to a step must not take the others down with it. */
  #tell(call: () => void): void {
    try {
      call()
    } catch (error) {
      this.env.log.error({ session_id: this.sessionId, err: error }, 'what follows a step failed')
    }
  }

  #openTextStream(): TextStream {
    return new TextStream({
      newId: this.env.newId,
      now: () => this.env.clock.now(),
      requestTick: () => this.env.ticker.request(this),
      afterPending: call => this.afterPending(call),
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
    const update = this.#at.document.flush(changes, this.env.clock.now())
    const committed = (): void => {
      this.env.crash('mid_stream')
      durable()
    }
    const failed = (): void => {
      lost()
      this.#hooks.lost()
    }
    this.#push({ events: [], actor: 'run', committed, failed }, { update })
  }

  #loseText(): void {
    this.text.abandon()
    this.#hooks.lost()
  }

  #publish(step: Step): void {
    const { update, record } = step.transition
    this.env.crash('after_batch_before_publish')
    if (update !== undefined) this.room.publish(update.number, update.bytes)
    if (record !== undefined) {
      this.env.metrics.ledgerAppended(record.bytes.length)
      this.#countSettled(this.#at.durable, step.state)
      this.#at.durable = step.state
      this.env.onDurable(step.state)
      this.#hooks.durable(step.state)
    }
    if (update !== undefined) this.#upkeep.note(update.bytes.length)
  }

  #countSettled(previous: SessionState, next: SessionState): void {
    if (previous.interactions === next.interactions) return
    for (const { openedAt, snapshot } of previous.interactions) {
      const isPending = next.interactions.some(r => r.snapshot.interactionId === snapshot.interactionId)
      if (!isPending) this.env.metrics.interactionSettled(Math.max(0, next.at - openedAt) / 1000)
    }
  }

  #openRepair(): Repair {
    return new Repair({
      env: this.env,
      sessionId: this.sessionId,
      pause: () => this.#pause(),
      resume: () => this.#resume(),
      releaseWaiters: () => this.#pipeline.releaseWaiters(),
      publish: step => {
        this.#tell(() => this.#publish(step))
        step.committed()
      },
      adopt: (loaded, fence) => this.#adopt(loaded, fence),
      giveUp: (code, reason) => this.#giveUp(code, reason),
    })
  }

  #reload(): void {
    if (this.#repair.running !== null || this.#pipeline.isBroken || this.state.isDeleted === true) return
    this.#pause()
    this.#repair.start([])
  }

  #pause(): void {
    this.#pauses += 1
    this.#hooks.paused()
  }

  #resume(): void {
    this.#pauses -= 1
    this.#hooks.resumed()
    if (this.#pauses > 0) return
    if (this.text.isDirty) this.env.ticker.request(this)
    this.#upkeep.look()
  }

  /** Takes what is on disk in place of what was ahead of it. Source: E7. */
  #adopt(loaded: LoadedSession | null, fence: number): void {
    this.#at = standingOf(loaded, { sessionId: this.sessionId, fence, env: this.env })
    this.recent.clear()
    this.#upkeep.restart(loaded?.log ?? EMPTY_LOG)
    this.room.replaceDocument(this.#at.document, this.#at.head.update)
    const isWhole = this.text.restore(loaded?.document.openBlocks() ?? [])
    this.#pipeline.restart(fence)
    if (!isWhole) this.#hooks.lost()
  }

  #giveUp(code: WireErrorCode, damage: string | null): void {
    this.#fault = code
    this.#at = fallBack(this.#at, this.env)
    this.recent.clear()
    this.room.newGeneration(this.#at.document)
    this.#pipeline.restart(this.#at.fence)
    this.#loseText()
    this.#hooks.gaveUp(damage)
  }

  #facts(): RoomFacts {
    return {
      hostEpoch: this.env.hostEpoch,
      baseRevision: this.#baseRevision,
      generation: this.#at.document.generation,
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
    this.#upkeep.askRebuild()
  }

  #openUpkeep(log: LogSize): Upkeep {
    return new Upkeep(
      {
        env: this.env,
        sessionId: this.sessionId,
        standing: () => this.#at,
        isQuiet: () => this.#pipeline.isIdle,
        isWell: () =>
          this.quarantine === null &&
          this.state.isDeleted !== true &&
          !this.#pipeline.isBroken &&
          this.#repair.running === null &&
          this.refusal === null,
        isAttached: () => this.room.subscribers > 0,
        pause: () => this.#pause(),
        resume: () => this.#resume(),
        whenDurable: () => this.whenDurable(),
        adopt: document => {
          this.#at.document = document
          this.room.newGeneration(document, document.number)
        },
        reload: () => this.#reload(),
      },
      log,
    )
  }
}
