import { LIMITS } from '../../../../schema/limits.ts'
import type { CommandBody } from '../../context.ts'
import { CliFailure } from '../../failure.ts'
import { namedSession } from '../../reach/named-session.ts'

/** `headwater session rename`: on a revision conflict the newest header is read and the title set on top of it. */
export const body: CommandBody = async (context, { args }) => {
  const [sessionId = '', ...words] = args
  const connection = await context.connect({ spawn: 'known_root' })
  for (let attempt = 0; attempt < LIMITS.renameAttempts; attempt++) {
    const { revision } = await namedSession(context, connection, sessionId)
    const result = await connection.request(
      'session.update',
      { sessionId, expectedRevision: revision, patch: { title: words.join(' ') } },
      { signal: context.signal },
    )
    if (result.kind === 'committed') return { result, text: '' }
  }
  throw new CliFailure('operation_conflict', 'Others keep changing this session; try again.')
}
