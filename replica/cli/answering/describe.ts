import type { InteractionRequest, InteractionSnapshot } from '../../../schema/entities/interaction.ts'
import { optionLines } from '../../view/interaction-words.ts'

/** What is asked with its numbered options, and the command that answers it. */
export function describeInteraction(interaction: InteractionSnapshot): string {
  const { interactionId, sessionId, request } = interaction
  const head = `${request.kind} ${interactionId}  session ${sessionId}`
  return [
    head,
    ...optionLines(request).map(line => `  ${line}`),
    `  headwater answer ${interactionId} ${hintOf(request)}`,
  ].join('\n')
}

function hintOf(request: InteractionRequest): string {
  switch (request.kind) {
    case 'question':
      return request.questions
        .map(({ options }) => (options.length > 0 ? '--choose N' : '--text TEXT'))
        .filter((hint, i, all) => hint !== '--text TEXT' || all.indexOf(hint) === i)
        .join(' ')
    case 'permission':
      return '--choose N | --deny'
    case 'form':
      return "--text '{…}'"
    default:
      return request satisfies never
  }
}
