import { randomUUID } from 'node:crypto'
import type { Content } from '../../schema/entities/content.ts'
import type { InteractionOutcome } from '../../schema/entities/interaction.ts'
import type { PlanContent, PlanUpdate } from '../../schema/entities/plan.ts'
import type { QueueEntry } from '../../schema/entities/queue.ts'
import { LIMITS } from '../../schema/limits.ts'
import type { RunCommand, RunPort } from '../session/run-port.ts'
import type { ChildStart, ChildTools, ProcessIdentity, RunContext, SteeringMessage } from './backend.ts'
import { boundBytes, boundJson, boundMessageId, boundPlan, splitDelta } from './bounds.ts'
import type { ElapsedClock } from './clock.ts'
import { Interactions } from './interactions.ts'
import type { ArtifactSink, ExecutionLog } from './ports.ts'
import type { RunGate } from './run-gate.ts'
import { ToolCalls } from './tool-calls.ts'
import { openChildTools } from './tools/child-tools.ts'
import { LedgerCalls } from './tools/ledger-calls.ts'

/** What a run's context stands on. */
export interface RunContextPorts {
  readonly port: RunPort
  readonly gate: RunGate
  readonly clock: ElapsedClock
  readonly artifacts: ArtifactSink
  readonly log: ExecutionLog
}

/** The context over a run's port; `flush` resolves when everything the backend sent was passed on, `close` belongs to any end. */
export interface OpenRunContext {
  readonly context: RunContext
  flush(): Promise<void>
  close(): void
}

const EMPTY_INPUT: Content = { text: '' }

/** Opens the context of a run. Everything a backend sends passes the text rule and the bounds here. Source: C3, T9. */
export function openRunContext(ports: RunContextPorts): OpenRunContext {
  const tools = new ToolCalls(ports)
  const interactions = new Interactions(ports)
  return {
    context: new PortRunContext(ports, tools, interactions),
    flush: () => {
      tools.flush()
      return ports.gate.drained()
    },
    close: () => {
      tools.close()
      interactions.close()
    },
  }
}

class PortRunContext implements RunContext {
  readonly #ports: RunContextPorts
  readonly #tools: ToolCalls
  readonly #interactions: Interactions
  readonly children: ChildTools
  readonly tasks: LedgerCalls
  readonly #currentMessage = { assistant: randomUUID() as string, thinking: randomUUID() as string }

  constructor(ports: RunContextPorts, tools: ToolCalls, interactions: Interactions) {
    this.#ports = ports
    this.#tools = tools
    this.#interactions = interactions
    this.children = openChildTools(ports)
    this.tasks = new LedgerCalls(ports)
  }

  get session() {
    return this.#ports.port.header
  }
  get turnId() {
    return this.#ports.port.turnId
  }
  get runId() {
    return this.#ports.port.runId
  }
  get input() {
    return this.#ports.port.admission.normalizedInput ?? EMPTY_INPUT
  }
  get maxSteps() {
    return this.#ports.port.admission.maxSteps
  }
  get execution() {
    return this.#ports.port.admission.execution
  }
  get plan() {
    return this.#ports.port.plan
  }
  get history() {
    return this.#ports.port.history
  }
  get cwd() {
    return this.#ports.port.header.cwd
  }
  get signal() {
    return this.#ports.gate.signal
  }
  get agentSession() {
    return this.#ports.port.agentSession ?? null
  }

  spawnChild(child: ChildStart) {
    return this.children.start(child)
  }

  historyBefore(seq: number, limit: number) {
    return this.#ports.gate.wait(this.#ports.port.historyBefore(seq, Math.min(limit, LIMITS.transcriptPageEntries)))
  }

  text(delta: string, options?: { readonly messageId?: string }) {
    return this.#append('assistant', delta, options?.messageId)
  }

  thinking(delta: string, options?: { readonly messageId?: string }) {
    return this.#append('thinking', delta, options?.messageId)
  }

  notice(text: string) {
    return this.#apply({ kind: 'notice', text: boundBytes(text, LIMITS.inlineTextBytes) }, text.length)
  }

  toolStart(call: Parameters<RunContext['toolStart']>[0]) {
    this.#currentMessage.assistant = randomUUID()
    this.#currentMessage.thinking = randomUUID()
    return handled(this.#tools.start(call))
  }

  toolUpdate(call: Parameters<RunContext['toolUpdate']>[0]) {
    return handled(this.#tools.update(call))
  }

  toolEnd(call: Parameters<RunContext['toolEnd']>[0]) {
    return handled(this.#tools.end(call))
  }

  ask(request: Parameters<RunContext['ask']>[0]): Promise<InteractionOutcome> {
    const { expiresInMs, ...rest } = request
    return handled(this.#interactions.open({ kind: 'question', ...rest }, expiresInMs))
  }

  requestPermission(request: Parameters<RunContext['requestPermission']>[0]): Promise<InteractionOutcome> {
    const { expiresInMs, ...rest } = request
    return handled(this.#interactions.open({ kind: 'permission', ...rest }, expiresInMs))
  }

  form(request: Parameters<RunContext['form']>[0]): Promise<InteractionOutcome> {
    const { expiresInMs, ...rest } = request
    return handled(this.#interactions.open({ kind: 'form', ...rest }, expiresInMs))
  }

  reportPlan(entries: Parameters<RunContext['reportPlan']>[0]) {
    return this.#apply({ kind: 'agent_plan', entries: boundPlan(entries) })
  }

  submitPlan(content: PlanContent) {
    return this.tasks.submitPlan(content)
  }

  updatePlan(update: PlanUpdate) {
    return this.tasks.updatePlan(update)
  }

  usage(usage: Readonly<Record<string, unknown>>) {
    const bounded = boundJson(usage, LIMITS.usageBytes)
    if (bounded !== null) return this.#apply({ kind: 'usage', usage: bounded })
    this.#ports.log.warn({ run_id: this.runId }, 'a usage report was dropped: too large or malformed')
    return Promise.resolve()
  }

  pullSteering(): Promise<readonly SteeringMessage[]> {
    const { gate, port } = this.#ports
    return gate.effect(0, noop, async () => (await port.pullSteering()).map(readSteering))
  }

  steeringWaits() {
    const { gate, port } = this.#ports
    return gate.isClosed ? gate.refuse() : gate.wait(port.steeringWaits())
  }

  ack(entryIds: readonly string[]) {
    return this.#apply({ kind: 'ack', entryIds })
  }

  nack(entryIds: readonly string[]) {
    return this.#apply({ kind: 'nack', entryIds })
  }

  processStarted(process: ProcessIdentity) {
    return this.#apply({ kind: 'process', process })
  }

  rememberAgentSession(agentSessionId: string) {
    const isKeepable = agentSessionId.length <= LIMITS.agentSessionIdChars && agentSessionId.isWellFormed()
    return isKeepable ? this.#apply({ kind: 'agent_session', agentSessionId }) : Promise.resolve()
  }

  readArtifact(hash: string): Promise<Uint8Array | null> {
    const { gate, artifacts } = this.#ports
    return artifacts.read === undefined ? Promise.resolve(null) : gate.wait(artifacts.read(hash))
  }

  #apply(command: RunCommand, bytes = 0): Promise<void> {
    return this.#ports.gate.effect(bytes, noop, () => this.#ports.port.apply(command))
  }

  /** Deltas go on as they are: the session's coalescer holds back half a character and applies the text rule (L4). */
  #append(kind: 'assistant' | 'thinking', delta: string, messageId: string | undefined): Promise<void> {
    const { gate, port } = this.#ports
    const id = messageId === undefined ? this.#currentMessage[kind] : boundMessageId(messageId)
    const pieces = splitDelta(String(delta))
    const last = pieces.at(-1) ?? ''
    if (last === '' && !gate.isClosed) return Promise.resolve()
    const sendFirst = async (): Promise<void> => {
      for (const piece of pieces.slice(0, -1)) await gate.wait(port.appendText(kind, id, piece))
    }
    return gate.effect(delta.length, sendFirst, () => port.appendText(kind, id, last))
  }
}

function readSteering(entry: QueueEntry): SteeringMessage {
  return { entryId: entry.entryId, messageId: entry.messageId, content: entry.content }
}

/** The same promise; a backend that does not wait for it cannot turn its rejection into an unhandled one. */
function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(noop)
  return promise
}

function noop(): void {}
