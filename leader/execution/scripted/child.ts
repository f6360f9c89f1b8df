import type { TurnSnapshot } from '../../../schema/entities/turn.ts'
import type { RunContext } from '../backend.ts'

/** What a child is told, and by what name it goes. */
export interface ChildScript {
  readonly agentName: string
  readonly prompt: string
}

/** Reads `NAME` or `NAME PROMPT…`; null where there is no name. */
export function readChildScript(argument: string): ChildScript | null {
  const space = argument.indexOf(' ')
  const agentName = space < 0 ? argument : argument.slice(0, space)
  const prompt = space < 0 ? '' : argument.slice(space + 1)
  return agentName === '' ? null : { agentName, prompt: prompt === '' ? `hello from ${agentName}` : prompt }
}

/** Starts a linked child session, waits for its end and reports its answer. Source: F, T13. */
export async function callChild(run: RunContext, { agentName, prompt }: ChildScript): Promise<void> {
  const child = await run.children.start({ agentName, content: { text: prompt } })
  const turn = await unlessStopped(run.signal, child.ended)
  const answer = await child.answer()
  const said = turn.status === 'completed' ? 'answered' : describeEnd(turn)
  await run.text(answer === '' ? `${agentName} ${said}` : `${agentName} ${said}: ${answer}`)
}

function describeEnd(turn: TurnSnapshot): string {
  if (turn.status === 'failed') return `failed (${turn.failureClass})`
  return turn.status === 'cancelled' ? `was stopped (${turn.abortSource})` : 'did not end'
}

/** The promise's value; rejects with the signal's reason if that comes first. */
function unlessStopped<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
