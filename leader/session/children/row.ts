import type { SessionState } from '../../domain/state.ts'
import type { RowWrite } from '../../log/store.ts'
import { encodeJson } from '../record.ts'

/** The row that leads from a session to a child of it, written with the child's first transition. Source: T13. */
export function childRows(previous: SessionState, { sessionId, header }: SessionState): RowWrite[] {
  if (previous.header !== null || header?.parent === undefined) return []
  return [{ kind: 'child', id: `${header.parent.sessionId}.${sessionId}`, value: encodeJson(sessionId) }]
}
