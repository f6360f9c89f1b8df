import { nearest } from '../../../view/nearest.ts'
import type { CommandBody } from '../../context.ts'
import { usage } from '../../failure.ts'
import { COMPLETION_SCRIPTS, type Shell } from './scripts.ts'

/** `headwater completion SHELL`: the script that a shell reads. Source: experience 3.1. */
export const body: CommandBody = async (_context, { args: [shell = ''] }) => {
  if (!isShell(shell)) {
    const [near] = nearest(shell, Object.keys(COMPLETION_SCRIPTS))
    throw usage(
      `there is no script for '${shell}'${near === undefined ? '; there is one for bash, zsh and fish' : `; did you mean ${near}?`}`,
      'headwater completion bash',
    )
  }
  const script = COMPLETION_SCRIPTS[shell]
  return { result: { shell, script }, text: script }
}

function isShell(shell: string): shell is Shell {
  return Object.hasOwn(COMPLETION_SCRIPTS, shell)
}
