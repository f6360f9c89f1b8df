import type { SessionHeader } from '../../../../schema/entities/session.ts'
import { sessionWords } from '../../../view/words.ts'

/** What people read of a session above its transcript; a child says whose it is. Source: T13. */
export function headerFields(session: SessionHeader): (readonly [name: string, value: string])[] {
  const { title, status, isArchived, backend, cwd, collaborationMode, parent } = session
  return [
    ['title', title],
    ['status', isArchived ? `${sessionWords(status)}, archived` : sessionWords(status)],
    ...(collaborationMode === 'plan' ? [['mode', 'plan'] as const] : []),
    ['backend', backend],
    ['cwd', cwd],
    ...(parent === undefined
      ? []
      : [['parent', `${parent.sessionId}, turn ${parent.turnId}, as ${parent.agentName}`] as const]),
  ]
}
