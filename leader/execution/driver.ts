import { LIMITS } from '../../schema/limits.ts'
import { truncateBytes, truncateChars } from '../../schema/text.ts'
import type { RunEnd, RunHandle, RunPort, StartRun } from '../session/run-port.ts'
import { type Backend, BackendFailure } from './backend.ts'
import { type CancelTimer, type ElapsedClock, systemClock } from './clock.ts'
import { type ArtifactSink, type ExecutionLog, type ExecutionMetrics, silentLog } from './ports.ts'
import { endProcessGroup } from './process-identity.ts'
import { type OpenRunContext, openRunContext } from './run-context.ts'
import { RunGate, RunStopped } from './run-gate.ts'

/** What runs are driven with. `backends` by the name that session headers give. */
export interface DriverOptions {
  readonly backends: ReadonlyMap<string, Backend>
  readonly artifacts: ArtifactSink
  readonly clock?: ElapsedClock
  readonly log?: ExecutionLog
  readonly metrics?: ExecutionMetrics
}

/**
 * Gives the function that starts runs. A run has exactly one end: `completed` when its backend returns, `failed` when it throws (a
 * BackendFailure under its own class, anything else as `backend_error`), `cancelled` when it was stopped, whatever its backend did
 * afterwards. A backend that ignores its stop is cut off; what it still sends is refused and counted.
 * Source: T9, T11.
 */
export function createDriver(options: DriverOptions): StartRun {
  return port => new DrivenRun(port, options)
}

class DrivenRun implements RunHandle {
  readonly done: Promise<void>
  readonly #port: RunPort
  readonly #options: DriverOptions
  readonly #clock: ElapsedClock
  readonly #log: ExecutionLog
  readonly #gate: RunGate
  readonly #open: OpenRunContext
  readonly #cutOff: Promise<void>
  #resolveCutOff: () => void = () => {}
  #cutOffDueMs = Number.POSITIVE_INFINITY
  readonly #terminal: Promise<void>
  #stopped: RunStopped | undefined
  #isOver = false
  #cancelCutOff: CancelTimer | undefined

  constructor(port: RunPort, options: DriverOptions) {
    this.#port = port
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#log = options.log ?? silentLog
    this.#gate = new RunGate(() => options.metrics?.lateOutput(port.header.backend))
    this.#cutOff = new Promise(resolve => {
      this.#resolveCutOff = resolve
    })
    const { artifacts } = options
    this.#open = openRunContext({ port, gate: this.#gate, clock: this.#clock, artifacts, log: this.#log })
    this.#gate.signal.addEventListener('abort', () => this.#onAbort(), { once: true })
    this.#terminal = this.#drive()
    this.done = this.#terminal.catch(error => {
      this.#log.warn({ ...this.#names(), err: error }, 'the end of a run could not be stored')
    })
  }

  stop(abortSource: string, cutoffMs: number): Promise<void> {
    if (!this.#gate.isClosed) {
      this.#stopped = new RunStopped(abortSource)
      this.#gate.stop(this.#stopped)
    }
    this.#armCutOff(cutoffMs)
    return this.#terminal
  }

  /** A run that was closed for sending too fast is not waited for longer than a stopped one. */
  #onAbort(): void {
    if (this.#stopped === undefined) this.#armCutOff(LIMITS.stopCutoffMs)
  }

  async #drive(): Promise<void> {
    await null
    this.#options.metrics?.runStarted(this.#port.header.backend)
    const cutOff = this.#cutOff.then(() => this.#cutOffEnd())
    const end = await Promise.race([this.#execute(), cutOff])
    this.#isOver = true
    this.#cancelCutOff?.()
    this.#gate.close()
    this.#open.close()
    this.#options.metrics?.runEnded(this.#port.header.backend, end.kind)
    await this.#port.end(end)
  }

  /** Never rejects, however the backend behaves. */
  async #execute(): Promise<RunEnd> {
    const { backend: name } = this.#port.header
    const backend = this.#options.backends.get(name)
    try {
      if (backend === undefined) throw new BackendFailure('backend_error', this.#describeUnknown(name))
      await this.#endFormerProcess()
      this.#gate.signal.throwIfAborted()
      await backend.start(this.#open.context)
      await this.#open.flush()
      return { kind: 'completed' }
    } catch (error) {
      await this.#open.flush().catch(() => {})
      return this.#readFailure(error)
    }
  }

  /** Source: X15. */
  async #endFormerProcess(): Promise<void> {
    const former = this.#port.formerProcess
    if (former == null || (await endProcessGroup(former)) === 'ended') return
    throw new BackendFailure('backend_error', `Process ${former.pid} of an earlier leader's run does not end.`)
  }

  #readFailure(error: unknown): RunEnd {
    if (this.#stopped !== undefined) {
      if (error !== this.#stopped) this.#log.debug({ ...this.#names(), err: error }, 'a stopped backend failed')
      return { kind: 'cancelled', abortSource: this.#stopped.abortSource }
    }
    if (error instanceof BackendFailure) return readFailed(error.failureClass, error.message)
    this.#log.warn({ ...this.#names(), err: error }, 'a backend failed')
    return readFailed('backend_error', error instanceof Error ? error.message : String(error))
  }

  #cutOffEnd(): RunEnd {
    this.#options.metrics?.runCutOff(this.#port.header.backend)
    this.#log.warn(this.#names(), 'a backend ignored its stop and was cut off')
    return this.#readFailure(this.#gate.signal.reason)
  }

  /** The earliest of the limits that were asked for counts. */
  #armCutOff(cutoffMs: number): void {
    const cancelEarlier = this.#cancelCutOff
    const dueMs = this.#clock.nowMs() + cutoffMs
    if (this.#isOver || this.#cutOffDueMs <= dueMs) return
    cancelEarlier?.()
    this.#cutOffDueMs = dueMs
    this.#cancelCutOff = this.#clock.schedule(cutoffMs, () => this.#resolveCutOff())
  }

  #describeUnknown(name: string): string {
    const known = [...this.#options.backends.keys()].join(', ')
    return `This leader has no backend named ${JSON.stringify(name)}. It has: ${known}.`
  }

  #names(): { session_id: string; turn_id: string; run_id: string; backend: string } {
    const { sessionId, turnId, runId, header } = this.#port
    return { session_id: sessionId, turn_id: turnId, run_id: runId, backend: header.backend }
  }
}

function readFailed(rawClass: string, rawMessage: string): RunEnd {
  const failureClass = truncateChars(rawClass.toWellFormed(), LIMITS.failureClassChars) || 'backend_error'
  const failureMessage = truncateBytes(rawMessage.toWellFormed(), LIMITS.failureMessageBytes)
  return failureMessage === '' ? { kind: 'failed', failureClass } : { kind: 'failed', failureClass, failureMessage }
}
