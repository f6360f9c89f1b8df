import type { CatalogRow } from '../../schema/entities/projection.ts'
import { LIMITS } from '../../schema/limits.ts'
import type { SessionState } from '../domain/state.ts'
import type { StoreReader } from '../log/store.ts'
import { CatalogDocument } from '../projection/catalog-document.ts'
import type { ProjectionClock } from '../projection/clock.ts'
import { Room } from '../projection/room.ts'
import { decodeJson } from '../session/record.ts'
import type { SessionRow } from '../session/rows.ts'

/** The catalog and who follows it. Source: S7. */
export class Catalog {
  readonly room: Room
  readonly #document: CatalogDocument

  constructor(options: { readonly hostEpoch: string; readonly clock: ProjectionClock; readonly store: StoreReader }) {
    const { clock, hostEpoch, store } = options
    this.#document = new CatalogDocument({
      clock,
      publish: (number, update) => this.room.publish(number, update),
      isAttached: () => this.room.subscribers > 0,
      onRebuilt: () => this.room.newGeneration(this.#document, this.#document.number),
      onShort: () => void this.load(store),
    })
    this.room = new Room({
      document: this.#document,
      facts: () => ({ hostEpoch, baseRevision: 1, generation: this.#document.generation }),
      clock,
      onAhead: () => {},
    })
  }

  /** Shows the most recently active sessions. Source: S7. */
  async load(store: StoreReader): Promise<void> {
    const recent = await store.rows('activity', '', { after: 'u.', limit: LIMITS.catalogRows })
    for (const { value } of recent) {
      const row = await store.row('session', '', decodeJson<string>(value))
      if (row !== undefined) this.#document.setRow(rowOf(decodeJson<SessionRow>(row)))
    }
  }

  /** A session as it is durable now. */
  show(state: SessionState): void {
    if (state.header === null) return
    this.#document.setRow(
      rowOf({ header: state.header, queueCount: state.queue.length, pendingCount: state.interactions.length }),
    )
  }

  close(): void {
    this.#document.close()
  }
}

function rowOf({ header, queueCount, pendingCount }: SessionRow): CatalogRow {
  const { sessionId, title, status, isArchived, lastActivityAt, parent, revision } = header
  return {
    sessionId,
    title,
    status,
    isArchived,
    lastActivityAt,
    queueCount,
    pendingCount,
    ...(parent === undefined ? {} : { parent }),
    revision,
  }
}
