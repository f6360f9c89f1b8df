import type { CommandContext, CommandInput } from '../context.ts'
import { usage } from '../failure.ts'
import { readText } from '../input/text-input.ts'

/** What `run` prints: the answer, one object at the end, or a line per event. */
export type RunFormat = 'text' | 'json' | 'jsonl'
/** What `run` does when the turn asks a question. */
export type OnQuestion = 'fail' | 'wait'
/** What `run` does when the turn asks for a permission. */
export type OnPermission = 'fail' | 'deny' | 'wait' | 'allow-once'

/** What one `headwater run` is to do. */
export interface RunOptions {
  readonly text: string
  readonly session: { readonly kind: 'named'; readonly sessionId: string } | { readonly kind: 'last' | 'new' }
  readonly backend: string | undefined
  readonly format: RunFormat
  readonly onQuestion: OnQuestion
  readonly onPermission: OnPermission
  readonly isDetached: boolean
}

/** Where a failure is printed before the options are known to be right. */
export function formatOf({ flags }: CommandContext, { options }: CommandInput): RunFormat {
  return (options.format as RunFormat | undefined) ?? (flags.json ? 'json' : 'text')
}

/** Reads the options; throws a usage failure for what does not go together. */
export async function readRunOptions(context: CommandContext, input: CommandInput): Promise<RunOptions> {
  const { options } = input
  const session = options.session as string | undefined
  if (session !== undefined && options.continue === true) throw usage('-s and -c exclude each other.', EXAMPLE)
  const isOld = session !== undefined || options.continue === true
  if (isOld && options.backend !== undefined) throw usage('--backend is for a new session.', EXAMPLE)
  const usual = context.canPrompt ? 'wait' : 'fail'
  return {
    text: await readText(context, input.args, EXAMPLE),
    session:
      session !== undefined
        ? { kind: 'named', sessionId: session }
        : { kind: options.continue === true ? 'last' : 'new' },
    backend: options.backend as string | undefined,
    format: formatOf(context, input),
    onQuestion: (options.onQuestion as OnQuestion | undefined) ?? usual,
    onPermission: (options.onPermission as OnPermission | undefined) ?? usual,
    isDetached: options.detach === true,
  }
}

const EXAMPLE = 'headwater run "Summarise the README of this folder"'
