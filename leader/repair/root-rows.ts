import type { InteractionSnapshot } from '../../schema/entities/interaction.ts'
import { ROW_KINDS, type RowKind, type StoreReader } from '../log/store.ts'
import { decodeJson } from '../session/record.ts'
import { isReadable, type RootRow, scanRows } from '../verify/check-rows.ts'

/** Says whether a row of scope root is this session's; of what cannot be read nobody knows whose it is. */
type IsOf = (sessionId: string, id: string, value: Uint8Array | null) => boolean

const endsWith: IsOf = (sessionId, id) => id.endsWith(`.${sessionId}`)
const isNamed: IsOf = (sessionId, id) => id === sessionId
const isInSnapshot: IsOf = (sessionId, _id, value) =>
  value !== null && decodeJson<InteractionSnapshot>(value).sessionId === sessionId

const OWNERS: { readonly [K in RowKind]?: IsOf } = {
  session: isNamed,
  active: isNamed,
  activity: endsWith,
  pending: isInSnapshot,
  interaction: isInSnapshot,
  child: endsWith,
  fork: endsWith,
  artifact_use: endsWith,
}

/** The rows of scope root that a session's own transitions write. */
export async function* rootRowsOf(store: StoreReader, sessionId: string): AsyncGenerator<RootRow> {
  for (const [kind, isOf] of Object.entries(OWNERS) as [RowKind, IsOf][]) {
    if (ROW_KINDS[kind] !== 'root') continue
    for await (const row of scanRows(store, kind, '')) {
      if (isOurs(isOf, sessionId, row)) yield { kind, ...row }
    }
  }
}

function isOurs(isOf: IsOf, sessionId: string, { id, value }: Pick<RootRow, 'id' | 'value'>): boolean {
  try {
    return isOf(sessionId, id, isReadable(value) ? value : null)
  } catch {
    return false
  }
}
