import type { ToolText } from '../../schema/entities/transcript.ts'
import { LIMITS } from '../../schema/limits.ts'
import type { RunCommand, RunPort } from '../session/run-port.ts'
import type { RunContext } from './backend.ts'
import { boundChars, boundTail, boundToolCallId, storeToolText } from './bounds.ts'
import type { CancelTimer, ElapsedClock } from './clock.ts'
import type { ArtifactSink } from './ports.ts'
import type { RunGate } from './run-gate.ts'

const UPDATE_INTERVAL_MS = 1000 / LIMITS.toolUpdatesPerSecond

type ToolStart = Parameters<RunContext['toolStart']>[0]
type ToolUpdate = Parameters<RunContext['toolUpdate']>[0]
type ToolEnd = Parameters<RunContext['toolEnd']>[0]
type UpdateCommand = Extract<RunCommand, { kind: 'tool_update' }>

interface OpenCall {
  readonly toolCallId: string
  /** What came since the last update that was sent; null when nothing did. */
  held: Omit<ToolUpdate, 'toolCallId'> | null
  sentAtMs: number
  cancelTimer: CancelTimer | null
  sending: Promise<void> | null
}

/** What the tool calls of a run stand on. */
export interface ToolCallsPorts {
  readonly port: RunPort
  readonly gate: RunGate
  readonly clock: ElapsedClock
  readonly artifacts: ArtifactSink
}

/** The tool calls of one run: bounds their texts and lets at most 4 updates a second of each reach the session. Source: L4, L5. */
export class ToolCalls {
  readonly #ports: ToolCallsPorts
  readonly #open = new Map<string, OpenCall>()
  readonly #started = new Set<string>()

  constructor(ports: ToolCallsPorts) {
    this.#ports = ports
  }

  async start(call: ToolStart): Promise<void> {
    const { port, gate } = this.#ports
    if (gate.isClosed) return gate.refuse()
    const toolCallId = boundToolCallId(call.toolCallId)
    if (this.#started.has(toolCallId)) throw new Error(`the tool call ${toolCallId} was already started`)
    if (this.#started.size >= LIMITS.toolCallsPerRun) throw new Error('the run has too many tool calls')
    const name = boundChars(call.name, LIMITS.toolNameChars)
    const title = boundChars(call.title, LIMITS.toolTitleChars)
    const status = call.status ?? 'in_progress'
    this.#started.add(toolCallId)
    this.#open.set(toolCallId, { toolCallId, held: null, sentAtMs: -Infinity, cancelTimer: null, sending: null })
    await gate.effect(
      weight(call.input),
      () => this.#store(call.input),
      input => port.apply({ kind: 'tool_start', toolCallId, name, title, status, input }),
    )
  }

  async update(call: ToolUpdate): Promise<void> {
    const { clock, gate } = this.#ports
    if (gate.isClosed) return gate.refuse()
    const open = this.#find(call.toolCallId)
    const { toolCallId: _, ...news } = call
    open.held = {
      ...open.held,
      ...news,
      ...(news.outputTail === undefined ? {} : { outputTail: boundTail(news.outputTail) }),
    }
    if (open.cancelTimer !== null || open.sending !== null) return open.sending ?? undefined
    const waitMs = open.sentAtMs + UPDATE_INTERVAL_MS - clock.nowMs()
    if (waitMs <= 0) return this.#send(open)
    this.#sendLater(open, waitMs)
  }

  async end(call: ToolEnd): Promise<void> {
    const { port, gate } = this.#ports
    if (gate.isClosed) return gate.refuse()
    const open = this.#find(call.toolCallId)
    this.#open.delete(open.toolCallId)
    this.#sendWhatStays(open)
    const { toolCallId } = open
    await gate.effect(
      weight(call.output),
      () => this.#store(call.output),
      output => port.apply({ kind: 'tool_end', toolCallId, status: call.status, output }),
    )
  }

  /** Sends what is held back; no timer runs afterwards. */
  flush(): void {
    for (const open of this.#open.values()) {
      open.cancelTimer?.()
      open.cancelTimer = null
      if (open.held !== null) void this.#send(open).catch(noop)
    }
  }

  /** Drops what is held back; no timer runs afterwards. */
  close(): void {
    for (const open of this.#open.values()) open.cancelTimer?.()
    this.#open.clear()
  }

  #find(rawId: string): OpenCall {
    const toolCallId = boundToolCallId(rawId)
    const open = this.#open.get(toolCallId)
    if (open === undefined) {
      const why = this.#started.has(toolCallId) ? 'has already ended' : 'was not started'
      throw new Error(`the tool call ${toolCallId} ${why}`)
    }
    return open
  }

  /** A title or an input that was held back belongs to the ended call; a tail does not, the output replaces it. */
  #sendWhatStays(open: OpenCall): void {
    open.cancelTimer?.()
    open.cancelTimer = null
    if (open.held?.title === undefined && open.held?.input === undefined) return
    const { title, input } = open.held
    open.held = { ...(title === undefined ? {} : { title }), ...(input === undefined ? {} : { input }) }
    void this.#send(open).catch(noop)
  }

  #sendLater(open: OpenCall, waitMs: number): void {
    open.cancelTimer = this.#ports.clock.schedule(waitMs, () => {
      open.cancelTimer = null
      void this.#send(open).catch(noop)
    })
  }

  #send(open: OpenCall): Promise<void> {
    const { clock, gate, port } = this.#ports
    const held = open.held ?? {}
    open.held = null
    open.sentAtMs = clock.nowMs()
    const sending = gate.effect(
      weight(held.input),
      () => this.#store(held.input),
      input => port.apply(readUpdate(open.toolCallId, held, input)),
    )
    open.sending = sending
    const settle = (): void => {
      open.sending = null
      if (open.held === null || open.cancelTimer !== null || !this.#open.has(open.toolCallId)) return
      this.#sendLater(open, Math.max(0, open.sentAtMs + UPDATE_INTERVAL_MS - clock.nowMs()))
    }
    sending.then(settle, settle)
    return sending
  }

  async #store(text: string | undefined): Promise<ToolText | null> {
    return text === undefined ? null : storeToolText(text, this.#ports.artifacts)
  }
}

function readUpdate(toolCallId: string, held: Omit<ToolUpdate, 'toolCallId'>, input: ToolText | null): UpdateCommand {
  return {
    kind: 'tool_update',
    toolCallId,
    ...(held.title === undefined ? {} : { title: boundChars(held.title, LIMITS.toolTitleChars) }),
    ...(held.status === undefined ? {} : { status: held.status }),
    ...(input === null ? {} : { input }),
    ...(held.outputTail === undefined ? {} : { outputTail: held.outputTail }),
  }
}

function weight(text: string | undefined): number {
  return text?.length ?? 0
}

function noop(): void {}
