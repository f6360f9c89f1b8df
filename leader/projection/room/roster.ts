import type { PresenceRow } from '../../../schema/entities/projection.ts'
import { LIMITS } from '../../../schema/limits.ts'
import type { DocumentSubscriber } from '../../transport/host-port.ts'

interface Place {
  readonly row: PresenceRow
  sockets: number
}

/** The clients in a room; several sockets of one connection are one client. Source: section V. */
export class Roster {
  readonly #places = new Map<string, Place>()
  readonly #maxRows: number
  #version = 0
  #rows: readonly PresenceRow[] | null = null

  constructor(maxRows: number = LIMITS.presenceRows) {
    this.#maxRows = maxRows
  }

  /** Grows with every change. */
  get version(): number {
    return this.#version
  }

  get count(): number {
    return this.#places.size
  }

  /** The newest clients, oldest first; bounded. */
  get rows(): readonly PresenceRow[] {
    this.#rows ??= [...this.#places.values()].slice(-this.#maxRows).map(place => place.row)
    return this.#rows
  }

  /** True when a client came that was not there. */
  enter({ connectionId, surface, clientInstanceId }: DocumentSubscriber, since: number): boolean {
    const known = this.#places.get(connectionId)
    if (known !== undefined) {
      known.sockets += 1
      return false
    }
    this.#places.set(connectionId, { row: { connectionId, surface, clientInstanceId, since }, sockets: 1 })
    this.#changed()
    return true
  }

  /** True when a client's last socket went. */
  exit({ connectionId }: DocumentSubscriber): boolean {
    const known = this.#places.get(connectionId)
    if (known === undefined) return false
    known.sockets -= 1
    if (known.sockets > 0) return false
    this.#places.delete(connectionId)
    this.#changed()
    return true
  }

  /** Makes everyone's copy old, for a change of what else is told with the presence. */
  touch(): void {
    this.#version += 1
  }

  #changed(): void {
    this.#version += 1
    this.#rows = null
  }
}
