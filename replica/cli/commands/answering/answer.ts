import type { LeaderConnection } from '../../../client/types.ts'
import { outcomeLine } from '../../../view/interaction-words.ts'
import { buildAnswer } from '../../answering/build-answer.ts'
import type { CommandBody, CommandContext, CommandInput } from '../../context.ts'
import { CliFailure, toFailure, usage } from '../../failure.ts'
import { namedInteraction } from '../../reach/id-prefix.ts'

const EXAMPLE = 'headwater answer INTERACTION --choose 1'

/** `headwater answer`. */
export const body: CommandBody = async (context, input) => {
  const { interactionId: named, choose } = readArguments(input)
  const typed = {
    choose,
    isDenied: input.options.deny === true,
    ...(input.options.text === undefined ? {} : { text: input.options.text as string }),
  }
  const connection = await context.connect({ spawn: 'never' })
  const { interactionId, request } = await interactionOf(context, connection, named)
  const answer = buildAnswer(request, typed)
  const settled = await connection.answerInteraction({ interactionId, answer }, { signal: context.signal })
  const line = settled.outcome === null ? settled.status : outcomeLine(settled.outcome, settled.request)
  context.notices.notice(line)
  return { result: settled, text: '' }
}

async function interactionOf(context: CommandContext, connection: LeaderConnection, interactionId: string) {
  try {
    return await namedInteraction(context, connection, interactionId)
  } catch (error) {
    const failure = toFailure(error)
    if (failure.code !== 'not_found') throw error
    throw new CliFailure('not_found', `There is no interaction ${interactionId}.`, {
      detail: { interactionId },
      next: 'headwater pending',
    })
  }
}

/** The id may stand behind the list of choices: the list then swallowed it. */
function readArguments({ args, options }: CommandInput): { interactionId: string; choose: readonly string[] } {
  const choose = [...((options.choose as string[] | undefined) ?? [])]
  const isNumbers = (text: string) => /^\d+(,\d+)*$/.test(text)
  const interactionId = args[0] ?? (choose.length > 0 && !isNumbers(choose.at(-1)!) ? choose.pop() : undefined)
  if (interactionId === undefined) throw usage('The id of the interaction is missing.', EXAMPLE)
  return { interactionId, choose }
}
