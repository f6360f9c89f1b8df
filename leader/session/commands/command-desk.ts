import { receiptScope } from '../../../schema/commands/index.ts'
import type { ClientActor } from '../../../schema/entities/primitives.ts'
import type { TurnSnapshot } from '../../../schema/entities/turn.ts'
import { ERRORS, isHeadwaterError, type WireErrorCode } from '../../../schema/errors.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { type ClientCommand, decide } from '../../domain/decide/command.ts'
import type {
  Acceptance,
  CompactedBytes,
  DecideContext,
  Decision,
  Effect,
  ForkSource,
  Refusal,
} from '../../domain/decision.ts'
import type { RowWrite } from '../../log/store.ts'
import type { Caller, Reply } from '../../transport/host-port.ts'
import type { SessionCore } from '../core/session-core.ts'
import { type Lane, LookupFailure } from '../lane.ts'
import type { Compaction } from '../ledger/compaction.ts'
import { identityOf, payloadDigest, type StoredReceipt } from '../receipts.ts'
import { artifactsOfContent } from '../rows/named-rows.ts'
import { purgeRow } from '../rows/removal-rows.ts'
import { type Lookups, lookUp } from './lookups.ts'
import { type NamedFacts, namedFacts } from './named-facts.ts'
import type { TurnWaits } from './turn-waits.ts'

/** What the desk needs of its session. */
export interface DeskSession {
  readonly core: SessionCore
  readonly lane: Lane
  readonly waits: TurnWaits
  readonly isCleaningUp: boolean
  /** Resolves when the linked children of the deleted session have gone too; never rejects. Source: S5. */
  readonly childrenDeleted: Promise<void>
  /** The turn that waits for a place, if any. Source: E9. */
  readonly queuedTurnId: string | null
  readonly compaction: Pick<Compaction, 'run'>
  /** Commands that wait for the ended run to clean up. */
  readonly waitingForCleanup: number
  context(actor: ClientActor | null, named: NamedFacts): DecideContext
  /** Source: S6. */
  forkSource(sessionId: string, turnId: string): Promise<ForkSource | undefined>
  runEffects(effects: readonly Effect[]): void
  /** Calls back when the ended run has cleaned up. Source: T7. */
  afterCleanup(call: () => void): void
  /** The snapshot of a turn, as it is durable. */
  snapshotOf(turnId: string): Promise<TurnSnapshot | null> | TurnSnapshot | null
}

/** A client's command on its way through the lane. */
interface Request {
  readonly command: ClientCommand
  readonly caller: Caller
  readonly scope: string
  readonly identity: string
  readonly digest: string
  /** The artifacts it names. Source: C1. */
  readonly artifacts: readonly string[]
  readonly resolve: (reply: Reply) => void
  readonly arrivedAtMs: number
  /** Set when the command is decided for the second time. Source: L6. */
  compacted?: CompactedBytes
  /** The reply has left, though what is to follow may still come about. */
  isAnswered: boolean
}

/** A refusal as a reply. */
export function refusalReply(refusal: Omit<Refusal, 'kind'>): Reply {
  const { code, message, detail } = refusal
  return {
    ok: false,
    error: { code, message: message ?? ERRORS[code].meaning, ...(detail === undefined ? {} : { detail }) },
  }
}

/** Where clients' commands on one session are decided and answered, each exactly once. Source: A2, A5, S4, T2, T6. */
export class CommandDesk {
  readonly #session: DeskSession
  /** True when the old ones of the recent facts are not needed any more. */
  #mayForget = true

  constructor(session: DeskSession) {
    this.#session = session
  }

  /** Runs a command whose input is checked. Resolves when the reply may leave; never rejects. */
  execute(command: ClientCommand, caller: Caller): Promise<Reply> {
    const { operation } = command
    const input = command.input as Readonly<Record<string, unknown>>
    const identity = identityOf(operation, input)
    if (identity === undefined) {
      return Promise.resolve(
        refusalReply({ code: 'invalid_request', message: 'operationId: is missing', detail: { path: 'operationId' } }),
      )
    }
    const { core, lane, waitingForCleanup } = this.#session
    if (lane.length + waitingForCleanup >= LIMITS.laneItems) {
      return Promise.resolve(refusalReply({ code: 'rate_limited' }))
    }
    this.#forget()
    const digest = payloadDigest(operation, input)
    const arrivedAtMs = core.env.clock.monotonicMs()
    const scope = receiptScope(operation)
    const artifacts = 'content' in command.input ? artifactsOfContent(command.input.content) : []
    const letGo = core.env.artifacts.hold(artifacts)
    return new Promise(resolve => {
      const answer = (reply: Reply): void => {
        letGo()
        resolve(reply)
      }
      this.#enter({
        command,
        caller,
        scope,
        identity,
        digest,
        artifacts,
        resolve: answer,
        arrivedAtMs,
        isAnswered: false,
      })
    })
  }

  /** Keeps the recent facts few; those that a look-up under way may still miss on disk stay. */
  #forget(): void {
    const { core, lane } = this.#session
    if (lane.length === 0 && core.isIdle) core.recent.clear()
    else if (core.recent.isFull && this.#mayForget) {
      this.#mayForget = false
      core.recent.turn()
      const allow = (): void => {
        this.#mayForget = true
      }
      // An item that enters now is decided after all whose look-ups began before this moment.
      core.afterPending(() => lane.run(allow, allow))
    }
  }

  #enter(request: Request): void {
    const { core, lane } = this.#session
    const { scope, identity, artifacts } = request
    const { sessionId } = core
    const { store, artifacts: gate } = core.env
    const forkSource: DeskSession['forkSource'] = (source, turnId) => this.#session.forkSource(source, turnId)
    const lookups = lookUp(store, request.command, { sessionId, scope, identity, forkSource, artifacts, gate })
    lane.push(
      lookups,
      found => this.#process(request, found),
      error => this.#fail(request, error),
    )
  }

  /** The leader's own fault: the command changed nothing. */
  #fail(request: Request, error: unknown): void {
    const { operation } = request.command
    const { env, sessionId } = this.#session.core
    env.log.error({ session_id: sessionId, operation, err: error }, 'a command failed in an unforeseen way')
    this.#answer(request, refusalReply({ code: 'internal_failure' }))
  }

  #process(request: Request, found: Lookups | LookupFailure): void {
    const { core } = this.#session
    const stored =
      core.recent.receipt(request.scope, request.identity) ??
      (found instanceof LookupFailure ? undefined : found.receipt)
    // Of what was deleted only the deletion is answered again. Source: S5.
    const isOver = core.state.isDeleted === true && request.command.operation !== 'session.delete'
    const receipt = isOver ? undefined : stored
    if (core.isInLimbo) {
      this.#answer(request, refusalReply({ code: this.#limboCode(receipt) }))
      return
    }
    if (found instanceof LookupFailure) {
      this.#answer(request, refusalReply(ioRefusal(found.error)))
      return
    }
    if (receipt !== undefined && request.command.operation !== 'interaction.answer') {
      this.#replay(request, receipt)
      return
    }
    const decision = this.#decide(request, found)
    if (decision.kind === 'wait_for_cleanup') this.#session.afterCleanup(() => this.#enter(request))
    else if (decision.kind === 'wait_for_compaction') void this.#compact(request, decision.before)
    else if (decision.kind === 'refuse') this.#refuse(request, decision)
    else this.#accept(request, decision)
  }

  /** What can be said while nobody knows what is stored: of this very command nothing, of a new one that it is not. Source: E7, E8. */
  #limboCode(receipt: StoredReceipt | undefined): WireErrorCode {
    const refusal = this.#session.core.refusal ?? 'persistence_failed'
    return refusal === 'persistence_failed' && receipt !== undefined ? 'outcome_unknown' : refusal
  }

  #decide(request: Request, found: Lookups): Decision {
    const { core } = this.#session
    const { command, caller } = request
    const { compacted } = request
    const named = { ...namedFacts(command, found, core.recent), ...(compacted === undefined ? {} : { compacted }) }
    core.env.metrics.commandQueued((core.env.clock.monotonicMs() - request.arrivedAtMs) / 1000)
    const decision = decide(core.state, command, this.#session.context(caller.actor, named))
    return this.#guard(decision, found.missingArtifact)
  }

  /** Source: L6. */
  async #compact(request: Request, before: number | null): Promise<void> {
    try {
      request.compacted = await this.#session.compaction.run(before)
      this.#enter(request)
    } catch (error) {
      if (isHeadwaterError(error)) this.#answer(request, refusalReply(ioRefusal(error)))
      else this.#fail(request, error)
    }
  }

  /** A damaged or unwritable session refuses what would have changed it; refusals that come earlier in T2's order stay. */
  #guard(decision: Decision, missingArtifact: string | undefined): Decision {
    const { core } = this.#session
    const isEarlier = decision.kind === 'refuse' && (core.state.header === null || decision.code === 'session_archived')
    if (isEarlier) return decision
    if (core.quarantine !== null)
      return { kind: 'refuse', code: 'session_damaged', detail: { reason: core.quarantine } }
    if (decision.kind === 'refuse') return decision
    if (missingArtifact !== undefined) {
      const message = 'an attachment names an artifact that is not here'
      return { kind: 'refuse', code: 'not_found', message, detail: { artifact: missingArtifact } }
    }
    if (core.env.isDraining() && bringsWork(decision)) return { kind: 'refuse', code: 'host_draining' }
    const { refusal } = core
    return refusal === null ? decision : { kind: 'refuse', code: refusal }
  }

  /** A refusal is true of the state it was decided on, so it waits until that is durable. Source: A2. */
  #refuse(request: Request, refusal: Refusal): void {
    this.#session.core.afterPending(isDurable => {
      if (isDurable) this.#answer(request, refusalReply(refusal))
      else this.#enter(request)
    })
  }

  /** Source: A5, T6. */
  #replay(request: Request, receipt: StoredReceipt): void {
    const { operation } = request.command
    if (receipt.operation !== operation || receipt.digest !== request.digest) {
      this.#refuse(request, {
        kind: 'refuse',
        code: 'operation_conflict',
        message: 'this identity was used for another command',
        detail: { operation: receipt.operation },
      })
      return
    }
    const endsTurn = operation === 'turn.stop' || operation === 'turn.interrupt'
    this.#session.core.afterPending(isDurable => {
      if (!isDurable) this.#enter(request)
      else if (endsTurn && receipt.turn !== undefined)
        this.#replyWhen(request, receipt, { turnEnded: receipt.turn.turnId })
      else void this.#reply(request, receipt)
    })
  }

  #accept(request: Request, decision: Acceptance): void {
    const { core } = this.#session
    const { operation } = request.command
    let stored: StoredReceipt | undefined
    core.commit({
      events: decision.events,
      actor: request.caller.actor,
      ...(decision.when === 'children_deleted' ? { rows: [this.#purgeRow(request)] } : {}),
      receipt: {
        scope: request.scope,
        id: request.identity,
        of: next => {
          const { turn } = decision
          stored = {
            operation,
            digest: request.digest,
            result: decision.result(next),
            ...(turn === undefined ? {} : { turn }),
          }
          return stored
        },
      },
      committed: () => {
        if (decision.events.some(e => e.type === 'turn_admitted')) core.env.crash('after_admission')
        this.#session.runEffects(decision.effects ?? [])
        this.#replyWhen(request, stored as StoredReceipt, decision.when ?? 'durable')
      },
      failed: code => this.#answer(request, refusalReply({ code })),
      unknown: () => this.#answer(request, refusalReply({ code: 'outcome_unknown' })),
    })
  }

  /** The purge keeps the receipt of the deletion. Source: S5. */
  #purgeRow({ scope, identity }: Request): RowWrite {
    const { sessionId } = this.#session.core
    return purgeRow(sessionId, { step: 'children', receipt: { operation: scope, id: identity } })
  }

  #replyWhen(request: Request, receipt: StoredReceipt, when: NonNullable<Acceptance['when']>): void {
    if (when === 'durable') {
      void this.#reply(request, receipt)
      return
    }
    if (when === 'children_deleted') {
      void this.#session.childrenDeleted.then(() => this.#reply(request, receipt))
      return
    }
    const { core, waits, queuedTurnId } = this.#session
    const turnId = 'turnStarted' in when ? when.turnStarted : when.turnEnded
    const call = (isReached: boolean): void => {
      if (isReached) void this.#reply(request, receipt)
      else this.#answer(request, refusalReply({ code: 'storage_fault' }))
    }
    waits.add({ turnId, until: 'turnStarted' in when ? 'started' : 'ended', call })
    waits.check(core.durable.root?.snapshot ?? null, queuedTurnId)
    if (core.refusal === 'storage_fault') waits.giveUp()
  }

  async #reply(request: Request, receipt: StoredReceipt): Promise<void> {
    const { core } = this.#session
    let { result } = receipt
    if (receipt.turn !== undefined) {
      const found = this.#session.snapshotOf(receipt.turn.turnId)
      try {
        const turn = found instanceof Promise ? await found : found
        result = receipt.turn.as === 'self' ? turn : { ...(result as object), turn }
      } catch (error) {
        this.#answer(request, refusalReply({ ...ioRefusal(error), code: 'outcome_unknown' }))
        return
      }
    }
    this.#answer(request, { ok: true, result, revision: core.durable.revision })
  }

  #answer(request: Request, reply: Reply): void {
    if (request.isAnswered) return
    request.isAnswered = true
    const { env } = this.#session.core
    if (reply.ok) env.metrics.commandCommitted((env.clock.monotonicMs() - request.arrivedAtMs) / 1000)
    request.resolve(reply)
  }
}

const WORK: ReadonlySet<string> = new Set([
  'turn_admitted',
  'queue_entry_added',
  'queue_resumed',
  'queue_entry_held',
  'plan_approved',
  'plan_execution_resumed',
])

/** True for what a leader that stops would have to leave undone. Source: E6, X14. */
function bringsWork(decision: Decision): boolean {
  return decision.kind === 'accept' && decision.events.some(event => WORK.has(event.type))
}

/** A failed read as a refusal: nothing was stored. Codes that do not travel become one that does. */
export function ioRefusal(error: unknown): Omit<Refusal, 'kind'> {
  if (!isHeadwaterError(error)) return { code: 'internal_failure' }
  const { code, message, detail } = error
  if (ERRORS[code].wire) return { code: code as WireErrorCode, message, ...(detail === undefined ? {} : { detail }) }
  return { code: code === 'invalid_lease' ? 'host_draining' : 'storage_fault' }
}
