import type { InteractionSnapshot } from '../../../../schema/entities/interaction.ts'
import { LIMITS } from '../../../../schema/limits.ts'
import { summaryOf } from '../../../view/interaction-words.ts'
import { describeInteraction } from '../../answering/describe.ts'
import type { CommandBody } from '../../context.ts'
import { renderTable } from '../../output/table.ts'

/** `headwater pending`: oldest first, over all sessions. */
export const body: CommandBody = async context => {
  const connection = await context.connect({ spawn: 'never' })
  const interactions: InteractionSnapshot[] = []
  let cursor: string | null | undefined
  for (let page = 0; page < LIMITS.listedPages && cursor !== null; page++) {
    const input = cursor === undefined ? {} : { cursor }
    const result = await connection.request('interaction.list', input, { signal: context.signal })
    interactions.push(...result.interactions)
    cursor = result.nextCursor
  }
  if (interactions.length === 0) context.notices.notice('nothing is pending')
  const text = context.out.isTerminal
    ? interactions.map(describeInteraction).join('\n\n')
    : renderTable(
        [{ heading: 'INTERACTION' }, { heading: 'SESSION' }, { heading: 'KIND' }, { heading: 'QUESTION' }],
        interactions.map(each => [each.interactionId, each.sessionId, each.request.kind, summaryOf(each.request)]),
      )
  return { result: { interactions, nextCursor: cursor ?? null }, text }
}
