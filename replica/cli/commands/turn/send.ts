import type { CommandBody } from '../../context.ts'
import { newId } from '../../ids.ts'
import { readText } from '../../input/text-input.ts'
import { onNamedSession } from '../../reach/named-session.ts'

/** `headwater send`: prints what became of the message. */
export const body: CommandBody = async (context, { args: [sessionId = '', ...words], options }) => {
  const text = await readText(context, words, 'headwater send ID "Then run the tests"')
  const connection = await context.connect({ spawn: 'known_root' })
  const messageId = newId()
  const result = await onNamedSession(connection, sessionId, () =>
    connection.submitMessage(
      {
        originHostEpoch: connection.hostEpoch,
        sessionId,
        messageId,
        content: { text },
        placement: options.steer === true ? 'current_turn' : 'next_turn',
      },
      { signal: context.signal },
    ),
  )
  const line =
    result.disposition === 'turn_started' ? `turn_started\t${result.turnId}` : `${result.disposition}\t${messageId}`
  return { result: { ...result, messageId }, text: line }
}
