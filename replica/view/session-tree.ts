/** What a tree needs to know of a session. */
export interface OfTree {
  readonly sessionId: string
  readonly parent?: { readonly sessionId: string } | undefined
}

/** A session and how far below the one it belongs to it stands. */
export interface TreeRow<T extends OfTree> {
  readonly session: T
  readonly depth: number
}

/** Sessions in their order, each with its children right after it. A child whose parent is not among them stands by itself. Source: T13. */
export function inTree<T extends OfTree>(sessions: readonly T[]): readonly TreeRow<T>[] {
  const known = new Map(sessions.map(session => [session.sessionId, session]))
  const children = new Map<string, T[]>()
  for (const session of sessions) {
    const above = session.parent?.sessionId ?? ''
    const siblings = children.get(above)
    if (siblings === undefined) children.set(above, [session])
    else siblings.push(session)
  }
  const rows: TreeRow<T>[] = []
  const shown = new Set<string>()
  const show = (session: T, depth: number): void => {
    if (shown.has(session.sessionId)) return
    shown.add(session.sessionId)
    rows.push({ session, depth })
    for (const child of children.get(session.sessionId) ?? []) show(child, depth + 1)
  }
  for (const session of sessions) if (isTop(session, known)) show(session, 0)
  return rows
}

/** True for a session without a known parent, and for one that is below itself: of those that name each other none is the first. */
function isTop<T extends OfTree>(session: T, known: ReadonlyMap<string, T>): boolean {
  const passed = new Set<string>()
  let above = known.get(session.parent?.sessionId ?? '')
  if (above === undefined) return true
  while (above !== undefined && above !== session && !passed.has(above.sessionId)) {
    passed.add(above.sessionId)
    above = known.get(above.parent?.sessionId ?? '')
  }
  return above === session
}

/** What stands before a session so deep in the tree. */
export function branchMark(depth: number): string {
  return depth === 0 ? '' : `${'  '.repeat(depth - 1)}└ `
}
