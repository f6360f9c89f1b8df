import { LIMITS } from '../../../../schema/limits.ts'
import type { Place } from '../../../view/command-text.ts'
import type { TranscriptRow } from '../../../view/transcript/row.ts'
import type { FoldLevel, RowLayout } from './layout.ts'
import { layOut } from './row-lines.ts'

interface Kept {
  readonly row: TranscriptRow
  readonly columns: number
  readonly level: FoldLevel
  readonly layout: RowLayout
}

/** Lays rows out when they are looked at, and remembers those that were looked at last. */
export class RowLayouts {
  readonly #place: Place
  /** The least recently used first. */
  readonly #kept = new Map<string, Kept>()
  #lines = 0
  #count = 0

  constructor(place: Place) {
    this.#place = place
  }

  /** How many rows were laid out, ever. */
  get count(): number {
    return this.#count
  }

  /** The same layout for the same row, width and level. */
  of(row: TranscriptRow, columns: number, level: FoldLevel): RowLayout {
    const before = this.#kept.get(row.id)
    const isSame = before?.row === row && before.columns === columns && before.level === level
    if (before !== undefined) this.#forget(row.id, before)
    const kept = isSame ? before : { row, columns, level, layout: this.#layOut(row, columns, level, before) }
    this.#kept.set(row.id, kept)
    this.#lines += kept.layout.lines.length
    this.#makeRoom()
    return kept.layout
  }

  #layOut(row: TranscriptRow, columns: number, level: FoldLevel, before: Kept | undefined): RowLayout {
    this.#count += 1
    return layOut(row, { columns, level, place: this.#place }, before?.layout)
  }

  /** The newest one stays, however long it is. */
  #makeRoom(): void {
    for (const [id, kept] of this.#kept) {
      const isFull = this.#kept.size > LIMITS.transcriptRowsLaidOut || this.#lines > LIMITS.transcriptLinesLaidOut
      if (!isFull || this.#kept.size === 1) return
      this.#forget(id, kept)
    }
  }

  #forget(id: string, { layout }: Kept): void {
    this.#kept.delete(id)
    this.#lines -= layout.lines.length
  }
}
