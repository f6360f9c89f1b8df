import type { Actor } from '../../../schema/entities/primitives.ts'
import { surfaceWords } from '../words.ts'

type Author = Exclude<Actor, string>

/** Who sent something, in words: `you` for this replica, else the kind of replica; null is another session that started this one. */
export function authorWords(by: Author | null, selfId?: string): string {
  if (by === null) return 'the session that started it'
  return by.clientInstanceId === selfId ? 'you' : surfaceWords(by.surface)
}
