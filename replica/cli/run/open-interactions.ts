import type { InteractionAnswer, InteractionSnapshot } from '../../../schema/entities/interaction.ts'
import type { LeaderConnection } from '../../client/types.ts'
import { summaryOf } from '../../view/interaction-words.ts'
import { permissionOption } from '../../view/pending/typed-answers.ts'
import { describeInteraction } from '../answering/describe.ts'
import { promptAnswer } from '../answering/prompt-answer.ts'
import type { CommandContext } from '../context.ts'
import { CliFailure, toFailure } from '../failure.ts'
import { isPassing } from '../follow/ledger-tail.ts'
import type { RunOptions } from './options.ts'

/** Deals with what a run's turn waits for. */
export interface OpenInteractions {
  /**
   * Looks at what is pending now. Throws `input_needed` when something is and nobody may answer it here.
   * Answers go their own way; `onSettled` is called when one has.
   */
  look(pending: readonly InteractionSnapshot[]): void
  /** Takes a prompt off the screen. */
  close(): void
}

interface Parts {
  readonly context: CommandContext
  readonly connection: LeaderConnection
  readonly options: Pick<RunOptions, 'onQuestion' | 'onPermission'>
  readonly onSettled: () => void
}

type Plan = { readonly kind: 'fail' | 'wait' } | { readonly kind: 'answer'; readonly answer: InteractionAnswer }

/** Watches over what is pending from the state, so that nothing is missed in a reconnect. Source: experience 4.3. */
export function createOpenInteractions(parts: Parts): OpenInteractions {
  const { context, connection } = parts
  const announced = new Set<string>()
  const sent = new Set<string>()
  let prompt: { readonly interactionId: string; readonly abort: AbortController } | undefined
  let isPromptOver = !context.canPrompt

  const send = async (interactionId: string, answer: InteractionAnswer): Promise<void> => {
    sent.add(interactionId)
    try {
      await connection.answerInteraction({ interactionId, answer })
    } catch (error) {
      if (isPassing(error)) sent.delete(interactionId)
      else context.notices.notice(`not answered here: ${toFailure(error).message}`)
    }
    parts.onSettled()
  }

  const ask = async (interaction: InteractionSnapshot): Promise<void> => {
    const abort = new AbortController()
    prompt = { interactionId: interaction.interactionId, abort }
    try {
      const answer = await promptAnswer(context, interaction, abort.signal)
      if (answer === undefined) isPromptOver = true
      else await send(interaction.interactionId, answer)
    } catch (error) {
      if (!abort.signal.aborted) context.notices.notice(toFailure(error).message)
      else context.notices.notice('settled elsewhere')
    }
    prompt = undefined
    parts.onSettled()
  }

  return {
    look(pending) {
      if (prompt !== undefined && pending.every(({ interactionId }) => interactionId !== prompt?.interactionId)) {
        prompt.abort.abort()
      }
      const plans = pending.map(interaction => ({ interaction, plan: planFor(interaction, parts.options) }))
      const unanswerable = plans.filter(({ plan }) => plan.kind === 'fail').map(({ interaction }) => interaction)
      if (unanswerable.length > 0) throw inputNeeded(unanswerable)
      for (const { interaction, plan } of plans) {
        const { interactionId } = interaction
        if (sent.has(interactionId)) continue
        if (plan.kind === 'answer') void send(interactionId, plan.answer)
        else if (!isPromptOver) {
          if (prompt === undefined) void ask(interaction)
        } else if (!announced.has(interactionId)) {
          announced.add(interactionId)
          context.notices.notice(`waiting for an answer:\n${describeInteraction(interaction)}`)
        }
      }
    },
    close: () => prompt?.abort.abort(),
  }
}

function planFor({ request }: InteractionSnapshot, options: Parts['options']): Plan {
  if (request.kind !== 'permission') return { kind: options.onQuestion }
  if (options.onPermission === 'fail' || options.onPermission === 'wait') return { kind: options.onPermission }
  const optionId = permissionOption(request, options.onPermission)
  return optionId === undefined ? { kind: 'fail' } : { kind: 'answer', answer: { kind: 'permission', optionId } }
}

function inputNeeded(open: readonly InteractionSnapshot[]): CliFailure {
  const [first] = open
  const what = open
    .map(({ interactionId, request }) => `${request.kind} ${interactionId}: ${summaryOf(request)}`)
    .join('; ')
  return new CliFailure('input_needed', `The turn waits for an answer that nobody may give here: ${what}`, {
    detail: { interactions: open },
    next: `headwater answer ${first?.interactionId ?? 'INTERACTION'} --choose N`,
  })
}
