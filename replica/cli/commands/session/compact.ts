import { byteText } from '../../../view/byte-text.ts'
import type { CommandBody } from '../../context.ts'
import { onNamedSession, resolveSession } from '../../reach/named-session.ts'

/** `headwater session compact`. Source: L6. */
export const body: CommandBody = async (context, { args: [typed = ''], options }) => {
  const connection = await context.connect({ spawn: 'known_root' })
  const sessionId = await resolveSession(context, connection, typed)
  const before = options.before as number | undefined
  const input = { sessionId, ...(before === undefined ? {} : { beforeRevision: before }) }
  context.notices.progress('compacting …')
  const result = await onNamedSession(connection, sessionId, () =>
    connection.request('session.compact', input, { signal: context.signal }),
  ).finally(() => context.notices.progress(''))
  if (result.bytesAfter === result.bytesBefore) context.notices.notice('there was nothing to make shorter')
  return { result, text: `${byteText(result.bytesBefore)} → ${byteText(result.bytesAfter)}` }
}
