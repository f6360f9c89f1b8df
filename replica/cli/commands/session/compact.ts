import type { CommandBody } from '../../context.ts'
import { byteText } from '../../output/byte-text.ts'
import { onNamedSession } from '../../reach/named-session.ts'

/** `headwater session compact`. Source: L6. */
export const body: CommandBody = async (context, { args: [sessionId = ''], options }) => {
  const connection = await context.connect({ spawn: 'known_root' })
  const before = options.before as number | undefined
  const input = { sessionId, ...(before === undefined ? {} : { beforeRevision: before }) }
  context.notices.progress('compacting …')
  const result = await onNamedSession(connection, sessionId, () =>
    connection.request('session.compact', input, { signal: context.signal }),
  ).finally(() => context.notices.progress(''))
  return { result, text: `${byteText(result.bytesBefore)} → ${byteText(result.bytesAfter)}` }
}
