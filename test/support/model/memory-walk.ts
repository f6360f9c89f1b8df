import type { LedgerRecord } from '../../../schema/events.ts'
import type { RefCommand } from '../../model/reference/commands.ts'
import { type Given, type Happening, withoutTimes } from '../../model/reference/explore.ts'
import { difference } from '../../model/reference/match.ts'
import { placeOf, receiptOf } from '../../model/reference/reference.ts'
import type { RefActor, RefRoot, RefSession } from '../../model/reference/state.ts'
import { readFacts, repeated } from '../crash/ledger-facts.ts'
import type { SeededRandom } from '../random.ts'
import { CommandChoice } from './choose-command.ts'
import { Contradiction, Judge } from './judge.ts'
import type { MemoryStage, WriteFault } from './memory-stage.ts'
import { observedView, sharedView } from './observe.ts'
import { RunSteps, tellReference } from './run-steps.ts'

const ACTORS: readonly RefActor[] = ['ada', 'bob', 'cyd'].map(name => ({
  surface: name,
  clientInstanceId: `${name}-1`,
}))
const LATE: ReadonlySet<string> = new Set(['session.fork', 'session.compact'])
const FAILURES = ['failed', 'full', 'unknown_stored', 'unknown_absent'] as const

/** A leader and the reference, taken through the same random commands; throws `Contradiction` with a short trace when they part. */
export class MemoryWalk {
  readonly stage: MemoryStage
  readonly #random: SeededRandom
  readonly #choice: CommandChoice
  readonly #runs: RunSteps
  readonly judge = new Judge()
  readonly #ledgers = new Map<string, readonly LedgerRecord[]>()

  constructor(stage: MemoryStage, random: SeededRandom) {
    this.stage = stage
    this.#random = random
    this.#choice = new CommandChoice(random)
    this.#runs = new RunSteps(random)
  }

  get root(): RefRoot {
    return this.judge.root
  }

  /** One step and every check after it. */
  async step(): Promise<void> {
    try {
      await this.#step()
    } catch (error) {
      if (error instanceof Contradiction) throw error
      this.judge.fail(`it failed: ${error instanceof Error ? error.stack : error}`)
    }
  }

  async #step(): Promise<void> {
    const dice = this.#random.next()
    if (dice < 0.46) await this.#command({ fault: null })
    else if (dice < 0.54) await this.#command({ fault: this.#fault() })
    else if (dice < 0.84) await this.#runStep()
    else if (dice < 0.9) this.#link()
    else if (dice < 0.95) await this.#repeat()
    else await this.#die()
    await this.#check()
  }

  #fault(): WriteFault {
    return { failure: this.#random.pick(FAILURES), after: this.#random.between(0, 1) }
  }

  #some(): RefCommand[] {
    const count = this.#random.pick([1, 1, 1, 2, 3])
    const commands = Array.from({ length: count }, () => this.#choice.next(this.root, this.#random.pick(ACTORS)))
    // The same frame twice, the second time perhaps by another connection.
    const [first] = commands
    if (first !== undefined && this.#random.next() < 0.1) commands.push({ ...first, actor: this.#random.pick(ACTORS) })
    return commands
  }

  async #command({ fault }: { readonly fault: WriteFault | null }): Promise<void> {
    // A compaction writes beside its lane; what a failed write of it does to its session is not in the reference.
    const commands = this.#some().filter(({ operation }) => fault === null || operation !== 'session.compact')
    if (fault !== null) this.judge.count('write failed')
    const observed = await this.stage.give(commands, fault)
    const given = commands.map((command, i) => ({ command, observed: observed[i] as Given['observed'] }))
    this.judge.told(given, fault === null ? 'gave' : `${fault.failure} after ${fault.after} writes`)
    // A fork is decided in its own lane, and a compaction when the ledger has been read: nothing says when that is.
    const isOrdered = fault === null && !commands.some(({ operation }) => LATE.has(operation))
    await this.#reconcile({ given, isOrdered, deaths: 0, hasFault: fault !== null })
    await this.#settleUnknown(given)
  }

  /** Whoever has no answer, or an unknown one, asks again under the same identity. */
  async #settleUnknown(given: readonly Given[]): Promise<void> {
    for (const { command, observed } of given) {
      const isOpen =
        observed.kind === 'unanswered' || (observed.kind === 'refused' && observed.code === 'outcome_unknown')
      if (!isOpen) continue
      const again = await this.stage.give([command], null)
      const settled = [{ command, observed: again[0] as Given['observed'] }]
      this.judge.told(settled, 'asked again')
      await this.#reconcile({ given: settled, isOrdered: true, deaths: 0, hasFault: false })
    }
  }

  async #die(): Promise<void> {
    this.judge.count('killed')
    const commands = this.#random.next() < 0.7 ? this.#some() : []
    const observed = await this.stage.giveAndDie(commands, this.#random.between(0, 3))
    const halves = this.#random.next() < 0.3 ? [this.#random.between(0, 2)] : []
    await this.stage.restart(halves)
    const given = commands.map((command, i) => ({ command, observed: observed[i] as Given['observed'] }))
    this.judge.told(given, `killed (and ${halves.length} times more while recovering)`)
    await this.#reconcile({ given, isOrdered: false, deaths: 1 + halves.length, hasFault: false })
    await this.#settleUnknown(given)
  }

  async #runStep(): Promise<void> {
    const taken = await this.#runs.next(this.root, this.stage)
    if (taken === null) return
    this.judge.count(`run ${taken.step.kind}`)
    this.judge.say(`${taken.sessionId}: the run ${JSON.stringify(taken.step)}`)
    await this.stage.world.advance(99)
    const roots = this.judge.roots.map(root => structuredClone(root))
    for (const root of roots) tellReference(root, taken)
    await this.#keep(roots, 'the run')
  }

  #link(): void {
    const replica = this.#random.pick(ACTORS).surface
    const isCut = this.#random.next() < 0.5
    this.judge.say(`${replica} is ${isCut ? 'cut off' : 'connected'}`)
    this.judge.count(isCut ? 'cut' : 'mended')
    this.stage.setCut(replica, isCut)
  }

  /** An old command again, by anybody, as it was or with other words. */
  async #repeat(): Promise<void> {
    if (this.judge.acknowledged.length === 0) return
    this.judge.count('repeated')
    const { command } = this.#random.pick(this.judge.acknowledged)
    const by = this.#random.pick(ACTORS)
    const isAltered = this.#random.next() < 0.4
    const again = (isAltered ? this.#choice.altered(command, by) : null) ?? { ...command, actor: by }
    const [observed] = await this.stage.give([again], null)
    const given = [{ command: again, observed: observed as Given['observed'] }]
    this.judge.told(given, isAltered ? 'repeated with other words' : 'repeated')
    await this.#reconcile({ given, isOrdered: true, deaths: 0, hasFault: false })
  }

  async #reconcile(happening: Happening): Promise<void> {
    await this.#keep(this.judge.after(happening), 'the commands')
  }

  /** Keeps the states of the reference that look like what a fresh replica sees. */
  async #keep(roots: readonly RefRoot[], what: string): Promise<void> {
    const views = new Map<string, unknown>()
    const ids = new Set(roots.flatMap(root => Object.keys(root.sessions)))
    for (const sessionId of ids) {
      const isThere = await this.stage.world.call('session.get', { sessionId })
      if (isThere.ok) views.set(sessionId, observedView(await this.stage.fresh(sessionId)))
    }
    const why = this.judge.keep(roots, views)
    if (why !== null) this.judge.fail(`${what}: ${why}`)
  }

  async #check(): Promise<void> {
    const there = Object.values(this.root.sessions).filter(session => !session.isDeleted)
    for (const session of there) await this.#checkSession(session)
    const faults = await this.stage.verify()
    if (faults.length > 0) this.judge.fail(`A8 verify: ${JSON.stringify(faults)}`)
    const recent = this.judge.acknowledged.slice(-2)
    const old = this.judge.acknowledged.length > 2 ? [this.#random.pick(this.judge.acknowledged)] : []
    for (const one of [...recent, ...old]) await this.#checkReceipt(one)
  }

  async #checkSession({ sessionId, revision }: RefSession): Promise<void> {
    const fresh = await this.stage.fresh(sessionId)
    for (const { surface } of ACTORS) {
      const view = await this.stage.view(surface, sessionId)
      if (view !== null && sharedView(view) !== sharedView(fresh)) {
        this.judge.fail(`${surface} is live and sees ${difference(fresh, view, new Map())}`)
      }
    }
    const records = await this.stage.ledger(sessionId)
    const revisions = records.map(record => record.revision)
    const first = revisions[0] ?? 0
    const isCompacted = first > 1 && records[0]?.events[0]?.type === 'ledger_compacted'
    const isWhole = (first === 1 || isCompacted) && revisions.every((r, i) => r === first + i)
    if (!isWhole || revisions.at(-1) !== revision) {
      this.judge.fail(`A8 the revisions of ${sessionId} are ${revisions.join()}, not up to ${revision}`)
    }
    this.#checkOnce(sessionId, this.#remember(sessionId, records))
  }

  /** The records of a session with those that a compaction has dropped since they were seen. */
  #remember(sessionId: string, records: readonly LedgerRecord[]): readonly LedgerRecord[] {
    const known = this.#ledgers.get(sessionId) ?? []
    const ahead = records.filter(record => record.revision > (known.at(-1)?.revision ?? 0))
    const all = [...known, ...ahead]
    this.#ledgers.set(sessionId, all)
    return all
  }

  /** Every accepted message has exactly one fate, and none ran twice. */
  #checkOnce(sessionId: string, records: readonly LedgerRecord[]): void {
    const facts = readFacts(records)
    for (const list of [facts.admitted, facts.executed, facts.settled, facts.left.map(one => one.entryId)]) {
      if (repeated(list).length > 0) this.judge.fail(`A5 twice in ${sessionId}: ${repeated(list).join()}`)
    }
    for (const [turnId, { startedAt, terminals }] of facts.turns) {
      if (startedAt.length > 1 || terminals.length > 1)
        this.judge.fail(`A5 ${turnId} of ${sessionId} ran or ended twice`)
    }
    const waiting = this.root.sessions[sessionId]?.queue.map(entry => entry.entryId) ?? []
    const known = new Set([...facts.executed, ...facts.left.map(one => one.entryId), ...waiting])
    for (const { command } of this.judge.acknowledged) {
      const { messageId } = command.input
      if (command.input.sessionId !== sessionId || typeof messageId !== 'string') continue
      if (!known.has(messageId)) this.judge.fail(`A6 the accepted message ${messageId} of ${sessionId} is gone`)
    }
  }

  /** The stored receipt is what was answered. */
  async #checkReceipt({ command, observed }: Given): Promise<void> {
    const { operation, input } = command
    const place = placeOf(command)
    if (operation === 'interaction.answer' || observed.kind !== 'ok') return
    if (this.root.sessions[place]?.isDeleted === true) return
    const id = String(input[IDENTITY[operation] ?? 'operationId'])
    const reply = await this.stage.world.call('receipt.query', { sessionId: place, operation, id })
    const stored = receiptOf(this.root, command)
    const result = reply.ok ? (reply.result as { stored: boolean; result?: unknown }) : { stored: false }
    if (!result.stored || stored === undefined) this.judge.fail(`A5 no receipt of ${operation} ${id}`)
    const { turn: _turn, ...rest } = (result.result ?? {}) as Record<string, unknown>
    if (stored?.turn?.as === 'self') return
    const why = difference(stored?.result, withoutTimes(stored?.turn === undefined ? result.result : rest), new Map())
    if (why !== null) this.judge.fail(`A5 the receipt of ${operation} ${id}: ${why}`)
  }
}

const IDENTITY: Readonly<Record<string, string>> = {
  'session.create': 'sessionId',
  'turn.start': 'turnId',
  'turn.stop': 'runId',
  'turn.interrupt': 'interruptId',
  'turn.message.submit': 'messageId',
  'queue.retract': 'retractId',
  'turn.regenerate': 'turnId',
  'plan.turn.start': 'turnId',
  'session.fork': 'newSessionId',
}
