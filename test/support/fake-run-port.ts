import { createHash } from 'node:crypto'
import type { ProcessIdentity } from '../../leader/execution/backend.ts'
import type { ArtifactSink } from '../../leader/execution/ports.ts'
import type { RunCommand, RunEnd, RunPort } from '../../leader/session/run-port.ts'
import type { Content } from '../../schema/entities/content.ts'
import type { InteractionAnswer, InteractionOutcome, InteractionRequest } from '../../schema/entities/interaction.ts'
import type { PlanContent, PlanUpdate } from '../../schema/entities/plan.ts'
import type { QueueEntry } from '../../schema/entities/queue.ts'
import type { SessionHeader } from '../../schema/entities/session.ts'
import type { TranscriptEntry } from '../../schema/entities/transcript.ts'
import type { Admission, Execution } from '../../schema/entities/turn.ts'
import { FakeLedger } from './fake-ledger.ts'

const ACTOR = { surface: 'test', clientInstanceId: 'test-1' }

/** What a fake run starts from. */
export interface FakeRun {
  readonly text: string
  readonly content?: Partial<Content>
  readonly header?: Partial<SessionHeader>
  readonly maxSteps?: number
  readonly execution?: Execution
  readonly history?: readonly TranscriptEntry[]
  readonly agentSession?: string | null
  readonly formerProcess?: ProcessIdentity | null
}

/** One thing a run did to its session, in the order in which it took effect. */
export type FakeEffect =
  | RunCommand
  | {
      readonly kind: 'text'
      readonly block: 'assistant' | 'thinking'
      readonly messageId: string
      readonly text: string
    }
  | { readonly kind: 'interaction'; readonly interactionId: string; readonly request: InteractionRequest }

interface FakePending {
  readonly interactionId: string
  readonly request: InteractionRequest
  readonly settle: (outcome: InteractionOutcome) => void
}

/** A session in memory, as one run sees it: records every effect in order, and behaves as the port's contract says. */
export class FakeRunPort implements RunPort {
  readonly sessionId: string
  readonly turnId: string
  readonly runId: string
  readonly admission: Admission
  readonly header: SessionHeader
  readonly history: readonly TranscriptEntry[]
  readonly formerProcess: ProcessIdentity | null
  agentSession: string | null
  readonly effects: FakeEffect[] = []
  readonly pending: FakePending[] = []
  /** Every end that was asked for; only the first has an effect. */
  readonly ends: RunEnd[] = []
  readonly ledger = new FakeLedger()
  readonly #steering: QueueEntry[] = []
  readonly #inFlight = new Map<string, QueueEntry>()
  readonly #steeringWaiters = new Set<() => void>()
  #durable: Promise<void> = Promise.resolve()
  #release: () => void = () => {}
  #ordinal = 0
  static #runs = 0

  constructor(run: FakeRun) {
    const number = ++FakeRunPort.#runs
    this.header = { ...defaultHeader(`session-${number}`), ...run.header }
    this.sessionId = this.header.sessionId
    this.turnId = `turn-${number}`
    this.runId = `run-${number}`
    this.history = run.history ?? []
    this.agentSession = run.agentSession ?? null
    this.formerProcess = run.formerProcess ?? null
    this.admission = {
      turnId: this.turnId,
      runId: this.runId,
      userMessageId: `message-${number}`,
      execution: run.execution ?? { kind: 'external_message' },
      previousRootTurnId: null,
      normalizedInput: { text: run.text, ...run.content },
      sourceMessages: [],
      submittedBy: ACTOR,
      admittedAt: 0,
      ...(run.maxSteps === undefined ? {} : { maxSteps: run.maxSteps }),
    }
  }

  get plan() {
    return this.ledger.plan
  }

  get tasks() {
    return this.ledger.tasks
  }

  submitPlan(content: PlanContent) {
    return this.ledger.submitPlan(content)
  }

  updatePlan(update: PlanUpdate) {
    return this.ledger.updatePlan(update)
  }

  /** Effects happen, but nothing becomes durable until `release`. */
  stall(): void {
    this.#durable = new Promise(resolve => {
      this.#release = resolve
    })
  }

  release(): void {
    this.#release()
  }

  /** The whole text of the run's assistant or thinking messages. */
  textOf(block: 'assistant' | 'thinking'): string {
    return this.effects
      .flatMap(effect => (effect.kind === 'text' && effect.block === block ? [effect.text] : []))
      .join('')
  }

  commands<K extends RunCommand['kind']>(kind: K): readonly Extract<RunCommand, { kind: K }>[] {
    return this.effects.filter((effect): effect is Extract<RunCommand, { kind: K }> => effect.kind === kind)
  }

  steer(text: string): string {
    const entryId = `entry-${++this.#ordinal}`
    const base = { placement: 'current_turn', state: 'queued', submittedBy: ACTOR, revision: 1 } as const
    this.#steering.push({ entryId, messageId: `steer-${this.#ordinal}`, content: { text }, ...base })
    for (const wake of this.#steeringWaiters) wake()
    return entryId
  }

  /** Steers that were pulled and not acknowledged. */
  get inFlight(): readonly string[] {
    return [...this.#inFlight.keys()]
  }

  get queued(): readonly string[] {
    return this.#steering.map(entry => entry.entryId)
  }

  answer(answer: InteractionAnswer): void {
    const next = this.pending.shift()
    if (next === undefined) throw new Error('nothing is pending')
    next.settle({ kind: 'answer', answer, by: ACTOR, at: 0 })
  }

  async apply(command: RunCommand): Promise<void> {
    this.#assertRunning()
    this.effects.push(command)
    if (command.kind === 'agent_session') this.agentSession = command.agentSessionId
    if (command.kind === 'ack') for (const id of command.entryIds) this.#inFlight.delete(id)
    if (command.kind === 'nack') {
      this.#steering.unshift(...command.entryIds.flatMap(id => this.#inFlight.get(id) ?? []))
      for (const id of command.entryIds) this.#inFlight.delete(id)
    }
    await this.#durable
  }

  async appendText(block: 'assistant' | 'thinking', messageId: string, text: string): Promise<void> {
    this.#assertRunning()
    this.effects.push({ kind: 'text', block, messageId, text })
    await this.#durable
  }

  async openInteraction(request: InteractionRequest) {
    this.#assertRunning()
    const interactionId = `interaction-${++this.#ordinal}`
    this.effects.push({ kind: 'interaction', interactionId, request })
    const outcome = new Promise<InteractionOutcome>(settle => this.pending.push({ interactionId, request, settle }))
    await this.#durable
    return { interactionId, outcome }
  }

  async expireInteraction(interactionId: string): Promise<void> {
    this.#assertRunning()
    this.#close('expired', one => one.interactionId === interactionId)
  }

  async pullSteering(): Promise<readonly QueueEntry[]> {
    this.#assertRunning()
    const pulled = this.#steering.splice(0)
    for (const entry of pulled) this.#inFlight.set(entry.entryId, entry)
    await this.#durable
    return pulled
  }

  steeringWaits(): Promise<void> {
    if (this.#steering.length > 0) return Promise.resolve()
    return new Promise(resolve => this.#steeringWaiters.add(resolve))
  }

  async historyBefore(seq: number, limit: number): Promise<readonly TranscriptEntry[]> {
    this.#assertRunning()
    return this.history.filter(entry => entry.seq < seq).slice(-limit)
  }

  async end(end: RunEnd): Promise<void> {
    this.ends.push(end)
    if (this.ends.length === 1) this.#close('turn_terminal', () => true)
    await this.#durable
  }

  /** What a session does before it delivers a stop. Source: T8. */
  closeForStop(): void {
    this.#close('turn_stopped', () => true)
  }

  #close(reason: 'expired' | 'turn_terminal' | 'turn_stopped', matches: (one: FakePending) => boolean): void {
    for (const one of this.pending.filter(matches)) {
      this.pending.splice(this.pending.indexOf(one), 1)
      one.settle({ kind: 'closure', reason, at: 0 })
    }
  }

  #assertRunning(): void {
    if (this.ends.length > 0) throw new Error('RunOver')
  }
}

/** Artifacts in memory. */
export class FakeArtifacts implements ArtifactSink {
  readonly stored = new Map<string, { readonly bytes: Uint8Array; readonly mimeType: string }>()

  async put(bytes: Uint8Array, mimeType: string): Promise<{ readonly hash: string }> {
    const hash = `sha256:${createHash('sha256').update(bytes).digest('hex')}`
    this.stored.set(hash, { bytes, mimeType })
    return { hash }
  }

  async read(hash: string): Promise<Uint8Array | null> {
    return this.stored.get(hash)?.bytes ?? null
  }
}

function defaultHeader(sessionId: string): SessionHeader {
  return {
    sessionId,
    title: '',
    titleIsManual: false,
    cwd: '/',
    backend: 'scripted',
    permissionMode: 'ask',
    collaborationMode: 'agent',
    status: 'running',
    isArchived: false,
    createdAt: 0,
    lastActivityAt: 0,
    revision: 1,
  }
}
