import type { CommandBody } from '../../context.ts'
import { onNamedSession } from '../../reach/named-session.ts'

/** `headwater session unarchive`. */
export const body: CommandBody = async (context, { args: [sessionId = ''] }) => {
  const connection = await context.connect({ spawn: 'known_root' })
  const result = await onNamedSession(connection, sessionId, () =>
    connection.request('session.unarchive', { sessionId }, { signal: context.signal }),
  )
  return { result, text: '' }
}
