import { LIMITS } from '../../schema/limits.ts'
import type { StoreReader } from '../log/store.ts'
import { referenceOf } from '../session/commands/fork-source.ts'
import type { Note } from '../session/ledger/ledger-walk.ts'
import { decodeJson } from '../session/record.ts'
import { type SegmentRow, sortable } from '../session/rows.ts'

/** Follows a fork into the sessions its first entries are in: all of them must be there, without a gap. Source: S6, D2. */
export async function checkFork(store: StoreReader, sessionId: string, note: Note): Promise<void> {
  const reference = await referenceOf(store, sessionId)
  if (reference === null) return
  let { sourceSessionId: source, through: expected } = reference
  for (let sources = 0; expected > 0; ) {
    const after = sortable(expected + 1)
    const [row] = await store.rows('segment', source, { after, limit: 1, reverse: true })
    const segment = row === undefined ? undefined : decodeJson<SegmentRow>(row.value)
    if (segment !== undefined && 'sourceSessionId' in segment && sources < LIMITS.forkDepth) {
      source = segment.sourceSessionId
      expected = Math.min(expected, segment.through)
      sources += 1
      continue
    }
    const entries = segment !== undefined && 'entries' in segment ? segment.entries : []
    const first = entries[0]?.seq ?? 0
    const isWhole = entries.length > 0 && entries.every(({ seq }, i) => seq === first + i)
    if (!isWhole || first + entries.length - 1 !== expected) {
      note('fork_source_missing', 1, `entry ${expected} is not in the session ${source} that the fork leads on to`)
      return
    }
    expected = first - 1
  }
}
