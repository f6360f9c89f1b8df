import { commands, type OperationName } from '../../../schema/commands/index.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { utf8Bytes } from '../../../schema/text.ts'
import type { Clock } from '../ports.ts'
import type { ReplicaOperationError, RequestOptions } from '../types.ts'
import { operationError, readWireError } from './errors.ts'
import { readInput } from './inputs.ts'

/** What outstanding commands need. `included` gives a promise where a document that is live has not reached the revision. */
export interface OutstandingOptions {
  readonly clock: Clock
  newId(): string
  send(frame: string): void
  included(sessionId: string, revision: number): Promise<void> | undefined
}

/** One request that has no answer yet. `input` is its JSON: what the caller does to his object afterwards changes no retry. */
interface Outstanding {
  readonly operation: OperationName
  readonly input: string
  readonly sessionId: string | undefined
  readonly options: RequestOptions
  readonly settle: { resolve(result: unknown): void; reject(error: Error): void }
  /** `held`: turned away by a leader that is not ready, after an earlier sending that may have been stored. */
  phase: 'waiting' | 'in_flight' | 'held' | 'answered'
  sends: number
  isAbandoned: boolean
}

/** What a command frame holds beside its input. */
const FRAME_OVERHEAD_BYTES = 512

/**
 * The commands of one connection. While the leader is ready up to 64 are in flight and the rest waits in order. When the connection is
 * lost they stay and are sent again, in order, under the same identity and new request ids: a receipt makes that safe.
 * Source: A5, W2, V8.
 */
export class OutstandingCommands {
  readonly #options: OutstandingOptions
  /** All without an answer, in order of their making. */
  readonly #all = new Set<Outstanding>()
  readonly #inFlight = new Map<string, Outstanding>()
  #waiting: Outstanding[] = []
  #isLive = false
  #requests = 0

  constructor(options: OutstandingOptions) {
    this.#options = options
  }

  /**
   * Sends a command, or keeps it until there is a place. Rejects with `ReplicaProtocolError` for an input that does not fit, with
   * `offline` while there is no leader, `rate_limited` or `too_large` over a limit, `timeout` when the caller gives up waiting (the
   * command goes on), `outcome_unknown` when the connection is closed before an answer, else with the leader's code.
   */
  async request(operation: OperationName, input: unknown, options: RequestOptions = {}): Promise<unknown> {
    const valid = readInput(operation, input, this.#options.newId)
    if (!this.#isLive) throw operationError('offline')
    if (options.signal?.aborted) throw operationError('timeout')
    if (this.#all.size >= LIMITS.commandsInFlight + LIMITS.commandsQueued) throw operationError('rate_limited')
    const text = JSON.stringify(valid)
    if (utf8Bytes(text) > LIMITS.commandFrameBytes - FRAME_OVERHEAD_BYTES) throw operationError('too_large')
    return new Promise((resolve, reject) => {
      const sessionId = typeof valid.sessionId === 'string' ? valid.sessionId : undefined
      this.#enter({ operation, input: text, sessionId, options, settle: { resolve, reject } })
    })
  }

  #enter(made: Pick<Outstanding, 'operation' | 'input' | 'sessionId' | 'options' | 'settle'>): void {
    const { signal, timeoutMs } = made.options
    const abandon = (): void => {
      command.isAbandoned = true
      command.settle.reject(operationError('timeout'))
    }
    const cancel = timeoutMs === undefined ? undefined : this.#options.clock.after(timeoutMs, abandon)
    signal?.addEventListener('abort', abandon, { once: true })
    const stop = (): void => {
      signal?.removeEventListener('abort', abandon)
      cancel?.()
    }
    const settle = {
      resolve(result: unknown): void {
        stop()
        made.settle.resolve(result)
      },
      reject(error: Error): void {
        stop()
        made.settle.reject(error)
      },
    }
    const command: Outstanding = { ...made, settle, phase: 'waiting', sends: 0, isAbandoned: false }
    this.#all.add(command)
    this.#waiting.push(command)
    this.#fill()
  }

  #fill(): void {
    while (this.#isLive && this.#inFlight.size < LIMITS.commandsInFlight) {
      const command = this.#waiting.shift()
      if (command === undefined) return
      this.#requests += 1
      const requestId = `r${this.#requests}`
      command.phase = 'in_flight'
      command.sends += 1
      this.#inFlight.set(requestId, command)
      this.#options.send(`{"requestId":"${requestId}","operation":"${command.operation}","input":${command.input}}`)
    }
  }

  /** The leader is ready: everything that has no answer is sent again. */
  goLive(): void {
    this.#isLive = true
    this.#waiting = [...this.#all].filter(command => command.phase !== 'in_flight')
    for (const command of this.#waiting) command.phase = 'waiting'
    this.#fill()
  }

  /** The connection is gone. What is not safe to send twice ends here; queries that nobody waits for are forgotten. */
  goDark(): void {
    this.#isLive = false
    this.#inFlight.clear()
    for (const command of [...this.#all]) {
      if (command.phase === 'in_flight') command.phase = 'held'
      const { kind } = commands[command.operation]
      const isUnsafe = kind === 'host' && command.operation !== 'host.status' && command.sends > 0
      if (isUnsafe) this.#answer(command, operationError('outcome_unknown'))
      else if (kind === 'query' && command.isAbandoned) this.#all.delete(command)
    }
  }

  /** The connection is closed for good. Source: interfaces 2. */
  close(): void {
    this.goDark()
    for (const command of [...this.#all]) this.#answer(command, operationError('outcome_unknown'))
    this.#waiting = []
  }

  /** Reads a reply or a progress push. */
  take(frame: Readonly<Record<string, unknown>>): void {
    const requestId = String(frame.requestId)
    const command = this.#inFlight.get(requestId)
    if (command === undefined) return
    if (typeof frame.progress === 'object' && frame.progress !== null) {
      if (!command.isAbandoned) command.options.onProgress?.(frame.progress as Readonly<Record<string, unknown>>)
      return
    }
    this.#inFlight.delete(requestId)
    if (frame.ok === true) this.#succeed(command, frame)
    else this.#refuse(command, frame.error)
    this.#fill()
  }

  #succeed(command: Outstanding, { result, revision }: Readonly<Record<string, unknown>>): void {
    command.phase = 'answered'
    this.#all.delete(command)
    const sessionId = command.sessionId ?? (result as { sessionId?: string } | null)?.sessionId
    const isOfSession = typeof revision === 'number' && sessionId !== undefined
    const wait = isOfSession ? this.#options.included(sessionId, revision) : undefined
    if (wait === undefined) command.settle.resolve(result)
    else void wait.then(() => command.settle.resolve(result))
  }

  #refuse(command: Outstanding, error: unknown): void {
    const refusal = readWireError(error)
    const isPassing = refusal.code === 'host_not_ready' || refusal.code === 'host_draining'
    // An earlier sending may have been stored: only a leader that is ready can tell.
    if (isPassing && command.sends > 1) command.phase = 'held'
    else this.#answer(command, refusal)
  }

  #answer(command: Outstanding, error: ReplicaOperationError): void {
    command.phase = 'answered'
    this.#all.delete(command)
    command.settle.reject(error)
  }
}
