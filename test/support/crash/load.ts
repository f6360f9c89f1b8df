import { setTimeout as delay } from 'node:timers/promises'
import type { LeaderConnection } from '../../../replica/client/types.ts'
import type { CommandName, Input } from '../../../schema/commands/index.ts'
import type { InteractionAnswer, InteractionSnapshot } from '../../../schema/entities/interaction.ts'
import type { SessionProjection } from '../../../schema/entities/projection.ts'
import type { QueueEntry } from '../../../schema/entities/queue.ts'
import { isTerminal } from '../../../schema/entities/turn.ts'
import type { SeededRandom } from '../random.ts'
import type { Journal } from './journal.ts'
import type { SeenSession } from './seen-session.ts'

/** One replica of the campaign: its connection and the sessions it follows. */
export interface LoadReplica {
  readonly connection: LeaderConnection
  readonly sessions: ReadonlyMap<string, SeenSession>
}

/** How fast a replica gives commands, and how many it leaves open at once. */
const STEP_MS = { min: 0, max: 25 }
const OPEN_AT_ONCE = 24

const PROMPTS = ['', '', '', '/hold', '/hold', '/ask', '/permission', '/wait-steering', '/tool 40000', '/stream 20000']
const ENDINGS = ['/error timeout', '/crash']

/** Gives commands at random, as the replica sees its sessions, until it is told to stop. */
export class Load {
  readonly #replica: LoadReplica
  readonly #journal: Journal
  readonly #random: SeededRandom
  readonly #name: string
  #ids = 0
  #isStopped = false

  constructor(replica: LoadReplica, journal: Journal, random: SeededRandom, name: string) {
    this.#replica = replica
    this.#journal = journal
    this.#random = random
    this.#name = name
  }

  async run(): Promise<void> {
    while (!this.#isStopped) {
      const isLive = this.#replica.connection.freshness.state === 'live'
      if (isLive && this.#journal.openCount < OPEN_AT_ONCE) this.#step()
      await delay(this.#random.between(STEP_MS.min, STEP_MS.max))
    }
  }

  stop(): void {
    this.#isStopped = true
  }

  #step(): void {
    const [sessionId, seen] = this.#random.pick([...this.#replica.sessions])
    const view = seen.current
    const turn = view.rootTurn
    const isRunning = turn !== null && !isTerminal(turn.status)
    if (!isRunning && this.#random.next() < 0.6) this.#begin(sessionId)
    else if (this.#random.next() < 0.35) this.#submit(sessionId)
    else this.#change(sessionId, view, isRunning)
  }

  #give<Op extends CommandName>(operation: Op, input: Input<Op> & { sessionId: string }): void {
    this.#journal.give(this.#replica.connection, operation, input)
  }

  #begin(sessionId: string): void {
    if (this.#random.next() < 0.3) {
      this.#submit(sessionId)
      return
    }
    const turnId = this.#id('t')
    this.#give('turn.start', { sessionId, turnId, content: { text: this.#prompt(turnId) } })
  }

  #submit(sessionId: string): void {
    const messageId = this.#id('m')
    this.#give('turn.message.submit', {
      sessionId,
      messageId,
      originHostEpoch: this.#replica.connection.hostEpoch,
      content: { text: this.#text(messageId) },
      placement: this.#random.pick(['current_turn', 'next_turn']),
    })
  }

  #change(sessionId: string, view: SessionProjection, isRunning: boolean): void {
    const entries = [...view.queue.steering, ...view.queue.followup]
    const pending = view.interactions.pending[0]
    const { rootTurn } = view
    const operationId = this.#id('o')
    const dice = this.#random.next()
    if (pending !== undefined && dice < 0.4) {
      const { interactionId } = pending
      this.#give('interaction.answer', { sessionId, interactionId, answer: this.#answer(pending) })
    } else if (isRunning && rootTurn !== null && dice < 0.5) {
      const { turnId, runId } = rootTurn
      if (dice < 0.44) this.#give('turn.stop', { sessionId, turnId, runId })
      else this.#give('turn.interrupt', { sessionId, turnId, runId, interruptId: operationId })
    } else if (dice < 0.56) this.#give('queue.resume', { sessionId, operationId })
    else if (dice < 0.59) this.#give('queue.retract', { sessionId, retractId: operationId })
    else if (dice < 0.68 || entries.length === 0) {
      const { revision: expectedRevision } = view.session
      this.#give('session.update', {
        sessionId,
        operationId,
        expectedRevision,
        patch: { title: `title ${operationId}` },
      })
    } else this.#changeEntry(sessionId, entries, operationId)
  }

  #changeEntry(sessionId: string, entries: readonly QueueEntry[], operationId: string): void {
    const { entryId, revision } = this.#random.pick(entries)
    const named = { sessionId, operationId, entryId, expectedEntryRevision: revision }
    const dice = this.#random.next()
    if (dice < 0.35) {
      this.#give('queue.edit', { ...named, content: { text: this.#text(entryId) } })
    } else if (dice < 0.55) this.#give('queue.remove', named)
    else if (dice < 0.75) this.#give('queue.promote', named)
    else this.#give('queue.move', { ...named, before: this.#random.pick(entries).entryId })
  }

  #answer({ request }: InteractionSnapshot): InteractionAnswer {
    if (request.kind === 'permission') {
      return { kind: 'permission', optionId: this.#random.pick(request.options).optionId }
    }
    if (request.kind === 'form') return { kind: 'form', values: {} }
    const answers = request.questions.map(({ options }) => ({ labels: [this.#random.pick(options).label] }))
    return { kind: 'question', answers }
  }

  #prompt(id: string): string {
    if (this.#random.next() < 0.06) return this.#random.pick(ENDINGS)
    const prompt = this.#random.pick(PROMPTS)
    return prompt === '' ? this.#text(id) : prompt
  }

  /** Unique, so that a reply shows which messages it echoes. */
  #text(id: string): string {
    return `<${id}>${'.'.repeat(this.#random.between(0, 40))}`
  }

  #id(kind: string): string {
    this.#ids += 1
    return `${kind}-${this.#name}-${this.#ids}`
  }
}
