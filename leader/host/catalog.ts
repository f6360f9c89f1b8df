import type { CatalogRow } from '../../schema/entities/projection.ts'
import { LIMITS } from '../../schema/limits.ts'
import type { SessionState } from '../domain/state.ts'
import type { StoreReader } from '../log/store.ts'
import { CatalogDocument } from '../projection/catalog-document.ts'
import type { ProjectionClock } from '../projection/clock.ts'
import { Room } from '../projection/room.ts'
import type { SessionLog } from '../session/environment.ts'
import { decodeJson } from '../session/record.ts'
import { type SessionRow, sessionRow } from '../session/rows.ts'

/** What a catalog is made of. */
export interface CatalogParts {
  readonly hostEpoch: string
  readonly clock: ProjectionClock
  readonly store: StoreReader
  readonly log?: Pick<SessionLog, 'error'>
}

/** The catalog and who follows it. Source: S7. */
export class Catalog {
  readonly room: Room
  readonly #parts: CatalogParts
  readonly #document: CatalogDocument
  readonly #damaged = new Set<string>()
  /** Sessions that changed since the last look: a row is made once for all the changes of a moment. */
  readonly #changed = new Map<string, SessionState>()
  #cancel: (() => void) | null = null

  constructor(parts: CatalogParts) {
    this.#parts = parts
    const { clock, hostEpoch } = parts
    this.#document = new CatalogDocument({
      clock,
      publish: (number, update) => this.room.publish(number, update),
      isAttached: () => this.room.subscribers > 0,
      onRebuilt: () => this.room.newGeneration(this.#document, this.#document.number),
      onShort: () =>
        void this.load().catch(error => this.#parts.log?.error({ err: error }, 'the catalog could not be filled up')),
    })
    this.room = new Room({
      document: this.#document,
      facts: () => ({ hostEpoch, baseRevision: 1, generation: this.#document.generation }),
      clock,
      onAhead: () => {},
    })
  }

  /** Shows the most recently active sessions. One whose row cannot be read does not keep the others from being shown. Source: S7, A9. */
  async load(): Promise<void> {
    const { store } = this.#parts
    const recent = await store.rows('activity', '', { after: 'u.', limit: LIMITS.catalogRows })
    for (const { id, value } of recent) {
      try {
        await this.#showStored(decodeJson<string>(value))
      } catch (error) {
        this.#parts.log?.error({ row: id, err: error }, 'a session cannot be listed')
      }
    }
  }

  /** A session as it is durable now. */
  show(state: SessionState): void {
    if (state.isDeleted === true) this.#remove(state.sessionId)
    if (state.header === null || state.isDeleted === true) return
    this.#changed.set(state.sessionId, state)
    this.#cancel ??= this.#parts.clock.schedule(0, () => this.#showChanged())
  }

  /** The session was deleted. Source: S5. */
  #remove(sessionId: string): void {
    this.#changed.delete(sessionId)
    this.#damaged.delete(sessionId)
    this.#document.removeRow(sessionId)
  }

  /** From now on the session is shown as damaged. Source: A9. */
  showDamaged(sessionId: string): void {
    this.#damaged.add(sessionId)
    this.#showStored(sessionId).catch(error =>
      this.#parts.log?.error({ session_id: sessionId, err: error }, 'a damaged session cannot be listed'),
    )
  }

  close(): void {
    this.#cancel?.()
    this.#cancel = null
    this.#document.close()
  }

  #showChanged(): void {
    this.#cancel = null
    const states = [...this.#changed.values()]
    this.#changed.clear()
    for (const state of states) {
      const row = sessionRow(state)
      if (row !== null) this.#show(row)
    }
  }

  async #showStored(sessionId: string): Promise<void> {
    const row = await this.#parts.store.row('session', '', sessionId)
    // What changed meanwhile is newer than what was read.
    if (row !== undefined && !this.#changed.has(sessionId)) this.#show(decodeJson<SessionRow>(row))
  }

  #show(row: SessionRow): void {
    const shown = rowOf(row)
    this.#document.setRow(this.#damaged.has(shown.sessionId) ? { ...shown, status: 'damaged' } : shown)
  }
}

function rowOf({ header, queueCount, pendingCount, plan, tasks }: SessionRow): CatalogRow {
  const { sessionId, title, status, isArchived, lastActivityAt, parent, revision } = header
  return {
    sessionId,
    title,
    status,
    isArchived,
    lastActivityAt,
    queueCount,
    pendingCount,
    ...(plan === undefined ? {} : { plan }),
    ...(tasks === undefined ? {} : { tasks }),
    ...(parent === undefined ? {} : { parent }),
    revision,
  }
}
