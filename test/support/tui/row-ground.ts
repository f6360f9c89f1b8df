import type { FoldLevel } from '../../../replica/tui/transcript/rows/layout.ts'
import { RowLayouts } from '../../../replica/tui/transcript/rows/row-layouts.ts'
import { MARGIN_COLUMNS } from '../../../replica/tui/transcript/view-lines.ts'
import type { Ground } from '../../../replica/tui/transcript/window/window.ts'
import type { TranscriptRow } from '../../../replica/view/transcript/row.ts'
import { createRowModel } from '../../../replica/view/transcript/row-model.ts'
import type { TurnViews } from '../../../replica/view/transcript/turn-views.ts'
import type { TranscriptEntry } from '../../../schema/entities/transcript.ts'

/** Rows on a screen that a test can change: entries, size and what is unfolded. */
export class RowScreen {
  readonly layouts = new RowLayouts({})
  readonly folds = new Map<string, FoldLevel>()
  readonly #model = createRowModel('me')
  entries: readonly TranscriptEntry[]
  turns: TurnViews
  hasMore = false
  columns: number
  height: number
  level: FoldLevel = 0

  constructor(
    entries: readonly TranscriptEntry[],
    size: { readonly columns: number; readonly height: number },
    turns: TurnViews = new Map(),
  ) {
    this.entries = entries
    this.turns = turns
    this.columns = size.columns
    this.height = size.height
  }

  get rows(): readonly TranscriptRow[] {
    return this.#model.rows({ entries: this.entries, hasMore: this.hasMore, turns: this.turns })
  }

  get ground(): Ground {
    const { rows, columns, height } = this
    const layoutAt = (index: number) => {
      const row = rows[index] as TranscriptRow
      return this.layouts.of(row, columns - MARGIN_COLUMNS, this.folds.get(row.id) ?? this.level)
    }
    return { source: { rows, layoutAt }, height }
  }
}
