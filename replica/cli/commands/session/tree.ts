import type { SessionHeader } from '../../../../schema/entities/session.ts'

/** A session and how far below the one it belongs to it stands. */
export interface TreeRow {
  readonly session: SessionHeader
  readonly depth: number
}

/** Sessions in their order, each with its children right after it. A child whose parent is not among them stands by itself. Source: T13. */
export function inTree(sessions: readonly SessionHeader[]): readonly TreeRow[] {
  const known = new Set(sessions.map(each => each.sessionId))
  const children = new Map<string, SessionHeader[]>()
  for (const session of sessions) {
    const above = session.parent?.sessionId ?? ''
    const under = known.has(above) ? above : ''
    children.set(under, [...(children.get(under) ?? []), session])
  }
  const rows: TreeRow[] = []
  const shown = new Set<string>()
  const show = (session: SessionHeader, depth: number): void => {
    if (shown.has(session.sessionId)) return
    shown.add(session.sessionId)
    rows.push({ session, depth })
    for (const child of children.get(session.sessionId) ?? []) show(child, depth + 1)
  }
  for (const session of children.get('') ?? []) show(session, 0)
  // Sessions that name each other as parents: none of them is the first.
  for (const session of sessions) show(session, 0)
  return rows
}
