import { HeadwaterError } from '../../../schema/errors.ts'
import type { DecideContext, Decision } from '../../domain/decision.ts'
import type { SessionState } from '../../domain/state.ts'
import type { SessionLoop } from '../session-loop.ts'

/** What a child's lane decides for its parent. */
export type Decide = (state: SessionState, context: DecideContext) => Decision

/**
 * Decides in a session's lane for the run of another one; resolves to the result when it is durable, and has its effects run. Rejects
 * with HeadwaterError: what it was refused with, or why it could not be stored. Source: S8, T7.
 */
export function decideInLane(loop: SessionLoop, decide: Decide): Promise<unknown> {
  const { core, lane } = loop
  if (lane.length === 0 && core.isIdle) core.recent.clear()
  return new Promise((resolve, reject) => {
    const decideNow = (): void => {
      const refusal = core.quarantine === null ? core.refusal : 'session_damaged'
      if (refusal !== null) throw new HeadwaterError(refusal)
      const decision = decide(core.state, loop.context())
      if (decision.kind === 'wait_for_cleanup') {
        loop.afterCleanup(() => lane.run(decideNow, reject))
        return
      }
      if (decision.kind === 'refuse') throw new HeadwaterError(decision.code, decision.message, decision.detail)
      if (decision.kind !== 'accept') throw new Error(`a run does not decide to ${decision.kind}`)
      const { events, effects = [] } = decision
      const result = decision.result(core.state)
      core.commit({
        events,
        actor: 'run',
        committed: () => {
          if (events.some(({ type }) => type === 'turn_admitted')) core.env.crash('after_admission')
          loop.runEffects(effects)
          resolve(result)
        },
        failed: code => reject(new HeadwaterError(code)),
      })
    }
    lane.run(decideNow, reject)
  })
}
