/** Something that wants to know that time passes. */
export interface Beating {
  tick(): void
}

/**
 * One timer for all sockets of a leader. Sockets count ticks instead of reading a clock, so a process that slept or was
 * held up does not find all its links dead at once.
 */
export class Heartbeat {
  readonly #members = new Set<Beating>()
  readonly #timer: NodeJS.Timeout

  constructor(tickMs: number) {
    this.#timer = setInterval(() => this.#beat(), tickMs)
    this.#timer.unref()
  }

  add(member: Beating): void {
    this.#members.add(member)
  }

  remove(member: Beating): void {
    this.#members.delete(member)
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#members.clear()
  }

  #beat(): void {
    for (const member of this.#members) member.tick()
  }
}

/** What a link has to do at a tick. */
export type LivenessStep = 'nothing' | 'ping' | 'dead'

/** Whether the other side is there: a ping every `pingIntervalMs`, dead after `deadLinkMs` without a word. Source: V9. */
export class Liveness {
  readonly #pingTicks: number
  readonly #deadTicks: number
  #sincePing = 0
  #silent = 0

  constructor(limits: {
    readonly pingIntervalMs: number
    readonly deadLinkMs: number
    readonly heartbeatTickMs: number
  }) {
    this.#pingTicks = Math.max(1, Math.round(limits.pingIntervalMs / limits.heartbeatTickMs))
    this.#deadTicks = Math.max(2, Math.round(limits.deadLinkMs / limits.heartbeatTickMs))
  }

  /** The other side sent something, whatever it was. */
  heard(): void {
    this.#silent = 0
  }

  tick(): LivenessStep {
    this.#silent += 1
    this.#sincePing += 1
    if (this.#silent >= this.#deadTicks) return 'dead'
    if (this.#sincePing < this.#pingTicks) return 'nothing'
    this.#sincePing = 0
    return 'ping'
  }
}
