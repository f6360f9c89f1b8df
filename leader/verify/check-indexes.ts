import type { Fault } from '../../schema/commands/host.ts'
import type { InteractionSnapshot } from '../../schema/entities/interaction.ts'
import type { RowKind, StoreReader } from '../log/store.ts'
import { decodeJson } from '../session/record.ts'
import { readUseId } from '../session/rows/named-rows.ts'
import { activityKey, type SessionRow } from '../session/rows.ts'
import { isReadable, scanRows } from './check-rows.ts'

/** A row that should not be there: whose it is, and why; `kind` where it stands for another fault. */
interface Misfit {
  readonly sessionId: string
  readonly why: string
  readonly kind?: string
}

/** Looks at a row of scope root; null: it is as it should be. */
type Look = (store: StoreReader, id: string, value: Uint8Array) => Promise<Misfit | null>

/**
 * What the indexes of scope root may hold. That nothing is missing in them is checked session by session; here: that nothing is in them which
 * no session accounts for. Source: D2.
 */
const LOOKS: { readonly [K in RowKind]?: Look } = {
  session: async (store, id) => await nobody(store, id),
  active: async (store, id) => await nobody(store, id),
  activity: async (store, id, value) => {
    const sessionId = decodeJson<string>(value)
    const row = await store.row('session', '', sessionId)
    if (row === undefined) return { sessionId, why: 'names no session' }
    return activityKey(decodeJson<SessionRow>(row).header) === id
      ? null
      : { sessionId, why: 'is an old place of its session' }
  },
  pending: async (store, _id, value) => {
    const { sessionId, interactionId } = decodeJson<InteractionSnapshot>(value)
    const row = await store.row('interaction', '', interactionId)
    const isPending = row !== undefined && decodeJson<InteractionSnapshot>(row).status === 'pending'
    return isPending ? await nobody(store, sessionId) : { sessionId, why: 'is not pending' }
  },
  interaction: async (store, _id, value) => {
    const { sessionId, turnId } = decodeJson<InteractionSnapshot>(value)
    const turn = await store.row('turn', sessionId, turnId)
    return turn === undefined ? { sessionId, why: 'names no turn' } : await nobody(store, sessionId)
  },
  // It is the child's row: a child may be planted or left whose parent is not here.
  child: async (store, id) => await nobody(store, id.split('.', 2)[1] ?? ''),
  fork: async (store, id) => await nobodyOf(store, id.split('.')),
  artifact_use: async (store, id) => {
    const { sessionId } = readUseId(id)
    return sessionId === null ? null : await nobody(store, sessionId)
  },
}

/** Rows of the root's indexes that no session accounts for. */
export async function* checkIndexes(store: StoreReader): AsyncGenerator<Fault> {
  for (const [kind, look] of Object.entries(LOOKS) as [RowKind, Look][]) {
    for await (const { id, value } of scanRows(store, kind, '')) {
      const fault = await faultOf(store, look, { kind, id, value: isReadable(value) ? value : null })
      if (fault !== null) yield fault
    }
  }
}

async function faultOf(
  store: StoreReader,
  look: Look,
  { kind, id, value }: { readonly kind: RowKind; readonly id: string; readonly value: Uint8Array | null },
): Promise<Fault | null> {
  try {
    const found = value === null ? null : await look(store, id, value)
    if (value !== null && found === null) return null
    if (found === null) throw new Error('it fails its checksum')
    const { revision } = await store.head(found.sessionId)
    const message = `the row ${kind} ${id} ${found.why}`
    return { code: 'session_damaged', sessionId: found.sessionId, revision, kind: found.kind ?? 'row_orphan', message }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return { code: 'storage_fault', kind: 'row_unreadable', message: `the row ${kind} ${id} cannot be read: ${why}` }
  }
}

async function nobodyOf(store: StoreReader, sessionIds: readonly string[]): Promise<Misfit | null> {
  for (const sessionId of sessionIds) {
    const misfit = await nobody(store, sessionId)
    if (misfit !== null) return misfit
  }
  return null
}

async function nobody(store: StoreReader, sessionId: string): Promise<Misfit | null> {
  const { revision } = await store.head(sessionId)
  if (revision > 0 || (await store.row('tombstone', '', sessionId)) !== undefined) return null
  const [record] = await store.ledger(sessionId, 0, 1)
  if (record === undefined) return { sessionId, why: 'names no session' }
  return { sessionId, kind: 'head_missing', why: 'names a session that has records but no head' }
}
