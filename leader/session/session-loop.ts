import type { ClientActor } from '../../schema/entities/primitives.ts'
import type { TranscriptEntry } from '../../schema/entities/transcript.ts'
import type { TurnSnapshot } from '../../schema/entities/turn.ts'
import { HeadwaterError } from '../../schema/errors.ts'
import type { DomainEvent } from '../../schema/events.ts'
import type { ClientCommand } from '../domain/decide/command.ts'
import { decideHoldEnd } from '../domain/decide/hold.ts'
import type { DecideContext, Effect, ForkSource } from '../domain/decision.ts'
import { isAtWork } from '../domain/state.ts'
import type { RowWrite } from '../log/store.ts'
import type { Caller, Reply } from '../transport/host-port.ts'
import { CommandDesk, type DeskSession } from './commands/command-desk.ts'
import { Holds } from './commands/holds.ts'
import type { NamedFacts } from './commands/named-facts.ts'
import { TurnWaits } from './commands/turn-waits.ts'
import { SessionCore } from './core/session-core.ts'
import type { SessionEnvironment } from './environment.ts'
import { readTranscriptBefore } from './history.ts'
import { Lane } from './lane.ts'
import { Compaction } from './ledger/compaction.ts'
import type { LoadedSession } from './load.ts'
import { decodeJson } from './record.ts'
import type { TurnRow } from './rows.ts'
import type { RunDeskSession } from './runs/desk-session.ts'
import { RunDesk } from './runs/run-desk.ts'

/** How a session is opened in this epoch. */
export interface OpenSession {
  readonly env: SessionEnvironment
  readonly sessionId: string
  readonly loaded: LoadedSession | null
  readonly fence: number
  readonly baseRevision: number | null
  readonly wentBack?: boolean
  /** Found damaged before. */
  readonly quarantine?: string | null
  /** Called when it turns out that the session is damaged. Source: A9. */
  readonly onDamaged?: (reason: string) => void
  /** Called when its deletion is durable; resolves when its linked children have gone too. Source: S5. */
  readonly onDeleted?: () => Promise<void>
  /** What another session holds that is to be forked. Source: S6. */
  readonly forkSource?: (sessionId: string, turnId: string) => Promise<ForkSource | undefined>
}

/** One loaded session: its lane, its core, its runs and its clients' commands. Source: S8. */
export class SessionLoop implements DeskSession, RunDeskSession {
  readonly core: SessionCore
  readonly lane = new Lane()
  readonly waits = new TurnWaits()
  readonly runs: RunDesk
  readonly compaction: Compaction
  readonly holds: Holds
  #childrenDeleted: Promise<void> = Promise.resolve()
  readonly #commands: CommandDesk
  readonly #env: SessionEnvironment
  readonly #forkSource: OpenSession['forkSource']

  constructor(options: OpenSession) {
    this.#env = options.env
    this.#forkSource = options.forkSource
    this.core = new SessionCore({
      ...options,
      hooks: {
        durable: state => {
          this.turnMoved()
          this.holds.show(state.queue)
          if (state.isDeleted === true) this.#childrenDeleted = options.onDeleted?.() ?? Promise.resolve()
        },
        paused: () => this.lane.pause(),
        resumed: () => this.lane.resume(),
        lost: () => this.runs.lose(),
        gaveUp: damage => this.#gaveUp(damage, options.onDamaged),
      },
    })
    this.core.quarantine = options.quarantine ?? null
    this.runs = new RunDesk(this)
    this.compaction = new Compaction(this.core)
    this.holds = new Holds({
      clock: this.#env.clock,
      presence: this.#env.presence,
      onEnd: (entryId, clientInstanceId) => this.#endHold(entryId, clientInstanceId),
    })
    this.#commands = new CommandDesk(this)
  }

  get sessionId(): string {
    return this.core.sessionId
  }

  /** Resolves when the linked children of this deleted session have gone too. */
  get childrenDeleted(): Promise<void> {
    return this.#childrenDeleted
  }

  get isCleaningUp(): boolean {
    return this.runs.isCleaningUp
  }

  get queuedTurnId(): string | null {
    return this.runs.queuedTurnId
  }

  get waitingForCleanup(): number {
    return this.runs.waitingForCleanup
  }

  /** True when nothing would be lost or interrupted by unloading. A damaged session does nothing. */
  get isAtRest(): boolean {
    const { core, lane, runs, waits } = this
    const isBusy = runs.hasRun || this.compaction.isBusy
    const isQuiet = core.isIdle && lane.length === 0 && !isBusy && waits.isEmpty && core.room.subscribers === 0
    return isQuiet && core.fault === null && (core.quarantine !== null || !isAtWork(core.state))
  }

  execute(command: ClientCommand, caller: Caller): Promise<Reply> {
    return this.#commands.execute(command, caller)
  }

  /** Ids are made when they are asked for: most decisions need none. */
  context(actor: ClientActor | null = null, named: NamedFacts = {}): DecideContext {
    const { newId, clock, backends } = this.#env
    const fresh: { turnId?: string; runId?: string; itemId?: string } = {}
    return {
      at: clock.now(),
      actor,
      openBlocks: this.core.openBlocks,
      isCleaningUp: this.isCleaningUp,
      backends,
      ...named,
      get freshTurnId() {
        fresh.turnId ??= newId()
        return fresh.turnId
      },
      get freshRunId() {
        fresh.runId ??= newId()
        return fresh.runId
      },
      get freshItemId() {
        fresh.itemId ??= newId()
        return fresh.itemId
      },
    }
  }

  runEffects(effects: readonly Effect[]): void {
    this.runs.runEffects(effects)
    for (const effect of effects) if (effect.kind === 'renew_hold') this.holds.renew(effect.entryId)
  }

  /** Tried again while the storage recovers: an entry must not stay passed over for ever. Source: Q6. */
  #endHold(entryId: string, clientInstanceId: string): void {
    const { core, lane } = this
    const retry = (): void =>
      void core.whenWritable().then(
        () => this.#endHold(entryId, clientInstanceId),
        () => {},
      )
    const decide = (): void => {
      if (core.quarantine !== null || this.#env.isDraining()) return
      if (core.refusal !== null) {
        retry()
        return
      }
      const decision = decideHoldEnd(core.state, entryId, clientInstanceId)
      if (decision.kind !== 'accept' || decision.events.length === 0) return
      const { events, effects = [] } = decision
      core.commit({ events, actor: 'leader', committed: () => this.runEffects(effects), failed: retry })
    }
    const { sessionId } = this
    lane.run(decide, error => this.#env.log.error({ session_id: sessionId, err: error }, 'a hold could not be ended'))
  }

  forkSource(sessionId: string, turnId: string): Promise<ForkSource | undefined> {
    return this.#forkSource?.(sessionId, turnId) ?? Promise.resolve(undefined)
  }

  afterCleanup(call: () => void): void {
    this.runs.afterCleanup(call)
  }

  turnMoved(): void {
    this.waits.check(this.core.durable.root?.snapshot ?? null, this.queuedTurnId)
  }

  snapshotOf(turnId: string): Promise<TurnSnapshot | null> | TurnSnapshot | null {
    const newest = this.core.durable.root?.snapshot
    if (newest?.turnId === turnId) return newest
    return this.#env.store
      .row('turn', this.sessionId, turnId)
      .then(row => (row === undefined ? null : decodeJson<TurnRow>(row).snapshot))
  }

  #gaveUp(damage: string | null, onDamaged: OpenSession['onDamaged']): void {
    if (damage !== null) onDamaged?.(damage)
    this.waits.giveUp()
  }

  historyBefore(seq: number, limit: number): Promise<readonly TranscriptEntry[]> {
    return readTranscriptBefore(this.#env.store, this.core.durable, seq, limit).then(page => page.entries)
  }

  /** Stores what recovery decided, as one transition; resolves when it is durable. */
  applyRecovery(events: readonly DomainEvent[], rows: readonly RowWrite[]): Promise<void> {
    return new Promise((resolve, reject) => {
      const commit = (): void => {
        this.core.commit({
          events,
          rows,
          actor: 'leader',
          committed: () => resolve(),
          failed: code => reject(new HeadwaterError(code, 'recovery could not be stored')),
        })
      }
      this.lane.run(commit, reject)
    })
  }
}
