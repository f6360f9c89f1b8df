import { type InteractionOutcome, InteractionRequest } from '../../schema/entities/interaction.ts'
import { LIMITS } from '../../schema/limits.ts'
import { readAtDoor, utf8Bytes } from '../../schema/text.ts'
import type { RunPort } from '../session/run-port.ts'
import type { CancelTimer, ElapsedClock } from './clock.ts'
import type { RunGate } from './run-gate.ts'

/** What the waits for a person stand on. */
export interface InteractionPorts {
  readonly port: RunPort
  readonly gate: RunGate
  readonly clock: ElapsedClock
}

/** The waits for a person of one run; those with a limit expire by elapsed time. Source: I3, I5. */
export class Interactions {
  readonly #ports: InteractionPorts
  readonly #timers = new Set<CancelTimer>()

  constructor(ports: InteractionPorts) {
    this.#ports = ports
  }

  /** Resolves to the outcome; rejects when the request does not fit its schema, and on stop. */
  async open(request: InteractionRequest, expiresInMs: number | undefined): Promise<InteractionOutcome> {
    const { port, gate } = this.#ports
    if (gate.isClosed) return gate.refuse()
    const fit = readInteraction(request)
    const opened = await gate.effect(
      utf8Bytes(JSON.stringify(fit)),
      () => fit,
      checked => port.openInteraction(checked, expiresInMs),
    )
    const cancel = expiresInMs === undefined ? undefined : this.#expireLater(opened.interactionId, expiresInMs)
    try {
      return await gate.wait(opened.outcome)
    } finally {
      cancel?.()
    }
  }

  close(): void {
    for (const cancel of this.#timers) cancel()
    this.#timers.clear()
  }

  #expireLater(interactionId: string, expiresInMs: number): CancelTimer {
    const { port, gate, clock } = this.#ports
    const stop = clock.schedule(expiresInMs, () => {
      this.#timers.delete(cancel)
      if (!gate.isClosed) port.expireInteraction(interactionId).catch(() => {})
    })
    const cancel = (): void => {
      stop()
      this.#timers.delete(cancel)
    }
    this.#timers.add(cancel)
    return cancel
  }
}

function readInteraction(request: InteractionRequest): InteractionRequest {
  const door = readAtDoor(request)
  if (!door.ok) throw new Error(`the interaction request's ${door.path} ${door.message}`)
  const parsed = InteractionRequest.safeParse(door.value)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    throw new Error(
      `the interaction request does not fit its schema at ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`,
    )
  }
  if (utf8Bytes(JSON.stringify(parsed.data)) > LIMITS.interactionRequestBytes) {
    throw new Error(`the interaction request is over ${LIMITS.interactionRequestBytes} bytes`)
  }
  return parsed.data
}
