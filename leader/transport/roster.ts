import type { ClientActor } from '../../schema/entities/primitives.ts'
import { LIMITS } from '../../schema/limits.ts'
import { hashKey, type Scope } from './auth.ts'

/** A client whose hello was accepted. `ticket` opens documents and HTTP routes for it. */
export interface RosterEntry {
  readonly connectionId: string
  readonly actor: ClientActor
  readonly scope: Scope
  readonly credentialId: string
  readonly ticket: string
}

/** The clients of a leader: what `host.status` counts, and the tickets that are valid. Source: V12, Z3. */
export class ConnectionRoster {
  readonly #entries = new Map<string, RosterEntry>()
  readonly #listeners = new Set<(count: number) => void>()
  readonly #moves = new Set<(clientInstanceId: string) => void>()
  /** How many connections each client has; 0: it had some. The longest gone are forgotten. */
  readonly #clients = new Map<string, number>()
  #gone = 0
  #arrivals = 0

  /** Clients whose hello was accepted and that have not left. */
  get count(): number {
    return this.#entries.size
  }

  /** Clients that have ever come, also those that have left. */
  get arrivals(): number {
    return this.#arrivals
  }

  /** Calls `listener` after each arrival and departure; gives back how to stop. */
  onChange(listener: (count: number) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  add(entry: RosterEntry): void {
    this.#arrivals += 1
    this.#entries.set(ticketKey(entry.ticket), entry)
    this.#move(entry.actor.clientInstanceId, 1)
    this.#announce()
  }

  remove(entry: RosterEntry): void {
    if (!this.#entries.delete(ticketKey(entry.ticket))) return
    this.#move(entry.actor.clientInstanceId, -1)
    this.#announce()
  }

  standingOf(clientInstanceId: string): 'here' | 'gone' | 'unknown' {
    const count = this.#clients.get(clientInstanceId)
    return count === undefined ? 'unknown' : count > 0 ? 'here' : 'gone'
  }

  /** Calls `listener` with each client that came, or whose last connection is gone; gives back how to stop. Source: Q6. */
  onMove(listener: (clientInstanceId: string) => void): () => void {
    this.#moves.add(listener)
    return () => void this.#moves.delete(listener)
  }

  #move(clientInstanceId: string, by: 1 | -1): void {
    const before = this.#clients.get(clientInstanceId)
    const count = (before ?? 0) + by
    this.#clients.delete(clientInstanceId)
    this.#clients.set(clientInstanceId, count)
    if (before === 0) this.#gone -= 1
    if (count === 0) this.#gone += 1
    if (this.#gone > LIMITS.departedClients) this.#forget()
    if (count === 0 || (count === 1 && by === 1)) for (const listener of this.#moves) listener(clientInstanceId)
  }

  /** Forgets the client that has been gone longest. */
  #forget(): void {
    for (const [clientInstanceId, count] of this.#clients) {
      if (count > 0) continue
      this.#clients.delete(clientInstanceId)
      this.#gone -= 1
      return
    }
  }

  /** The client a ticket belongs to. The look-up is by hash, so its time says nothing about a ticket. */
  findByTicket(ticket: string): RosterEntry | undefined {
    return ticket.length > 64 ? undefined : this.#entries.get(ticketKey(ticket))
  }

  /** Clients by kind of surface; kinds a client made up count as `other`. */
  countBySurface(): Record<string, number> {
    const counts: Record<string, number> = { desktop: 0, tui: 0, run: 0, acp: 0, other: 0 }
    for (const { actor } of this.#entries.values()) {
      const kind = Object.hasOwn(counts, actor.surface) ? actor.surface : 'other'
      counts[kind]! += 1
    }
    return counts
  }

  #announce(): void {
    for (const listener of this.#listeners) listener(this.#entries.size)
  }
}

function ticketKey(ticket: string): string {
  return hashKey(ticket).toString('base64')
}
