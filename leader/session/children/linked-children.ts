import { randomUUID } from 'node:crypto'
import type { Content } from '../../../schema/entities/content.ts'
import { HeadwaterError } from '../../../schema/errors.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { decideChildResume, decideChildRetry, decideChildStart } from '../../domain/decide/child/start.ts'
import { refuse } from '../../domain/decision.ts'
import type { ChildRun, ChildStart } from '../../execution/backend.ts'
import { decodeJson } from '../record.ts'
import type { SessionRegistry } from '../registry.ts'
import { artifactsOfContent } from '../rows/named-rows.ts'
import type { SessionRow } from '../rows.ts'
import type { SessionLoop } from '../session-loop.ts'
import { type ChildTurn, LinkedChildRun, waitFor } from './child-run.ts'
import type { ChildSessions, ParentRun, RunChildren } from './child-sessions.ts'
import { type Decide, decideInLane } from './in-lane.ts'

/**
 * The linked child sessions of a root's runs. What a run has started is known here alone and only while that run goes on: a leader that
 * dies takes all of them with it, and recovery runs none again. Source: T13, X6, X7.
 */
export class LinkedChildren implements ChildSessions {
  readonly #sessions: () => SessionRegistry
  #running = 0

  /** `sessions` is asked for when a run needs it: the registry is made after what it is made with. */
  constructor(sessions: () => SessionRegistry) {
    this.#sessions = sessions
  }

  of(run: ParentRun): RunChildren {
    return new ChildrenOfRun(run, {
      sessions: this.#sessions(),
      enter: () => {
        if (this.#running >= LIMITS.childrenRunning) {
          throw new HeadwaterError('too_large', `at most ${LIMITS.childrenRunning} children run at once in a root`)
        }
        this.#running += 1
      },
      leave: () => {
        this.#running -= 1
      },
    })
  }
}

/** What the children of one run share with those of all others. */
interface Root {
  readonly sessions: SessionRegistry
  /** Counts a child that is to run; throws `too_large` where there are too many. */
  enter(): void
  leave(): void
}

class ChildrenOfRun implements RunChildren {
  readonly #run: ParentRun
  readonly #root: Root
  readonly #live = new Set<LinkedChildRun>()
  readonly #starting = new Set<Promise<unknown>>()
  /** Those that are started or run. */
  #count = 0
  #stopSource: string | null = null
  #stopped: Promise<void> | null = null

  constructor(run: ParentRun, root: Root) {
    this.#run = run
    this.#root = root
  }

  start({ agentName, agentId = randomUUID(), content, backend }: ChildStart): Promise<ChildRun> {
    return this.#enter(async () => {
      await this.#assertShallow()
      const { sessionId, turnId, header: from } = this.#run
      const parent = { sessionId, turnId, agentId, agentName }
      const child = { parent, from, content, ...(backend === undefined ? {} : { backend }) }
      const childId = this.#root.sessions.env.newId()
      return await this.#saying(content, () =>
        this.#admit(childId, (state, context) => decideChildStart(state, child, context)),
      )
    })
  }

  resume({
    sessionId: childId,
    content,
  }: {
    readonly sessionId: string
    readonly content: Content
  }): Promise<ChildRun> {
    return this.#enter(async () => {
      const message = { parentSessionId: this.#run.sessionId, content }
      return await this.#saying(content, () =>
        this.#admit(childId, (state, context) => decideChildResume(state, message, context)),
      )
    })
  }

  retry({ sessionId: childId }: { readonly sessionId: string }): Promise<ChildRun> {
    const from = { parentSessionId: this.#run.sessionId }
    return this.#enter(() => this.#admit(childId, (state, context) => decideChildRetry(state, from, context)))
  }

  stop(abortSource: string): Promise<void> {
    this.#stopSource ??= abortSource === 'leader_shutdown' ? abortSource : 'parent_stopped'
    this.#stopped ??= this.#within(LIMITS.stopCutoffMs + LIMITS.childStopGraceMs, this.#stopAll(this.#stopSource))
    return this.#stopped
  }

  /** One that is being started meanwhile stops as soon as it is there. */
  async #stopAll(abortSource: string): Promise<void> {
    await Promise.all([...[...this.#live].map(child => child.stopAs(abortSource)), ...this.#starting])
  }

  /** Counts the child while it is started and, once it is there, until it has ended. */
  #enter(work: () => Promise<LinkedChildRun>): Promise<ChildRun> {
    const starting = this.#begin(work)
    const settled: Promise<void> = starting.then(
      child => (this.#stopSource === null ? undefined : child.stopAs(this.#stopSource)),
      () => {},
    )
    this.#starting.add(settled)
    void settled.finally(() => this.#starting.delete(settled))
    return starting
  }

  async #begin(work: () => Promise<LinkedChildRun>): Promise<LinkedChildRun> {
    if (this.#count >= LIMITS.childrenPerRun) {
      throw new HeadwaterError('too_large', `a run has at most ${LIMITS.childrenPerRun} children at once`)
    }
    this.#root.enter()
    this.#count += 1
    try {
      const child = await work()
      this.#live.add(child)
      void child.ended.finally(() => {
        this.#live.delete(child)
        this.#leave()
      })
      return child
    } catch (error) {
      this.#leave()
      throw error
    }
  }

  #leave(): void {
    this.#count -= 1
    this.#root.leave()
  }

  async #admit(childId: string, decide: Decide): Promise<LinkedChildRun> {
    const { sessions } = this.#root
    return await sessions.using(childId, async loop => {
      const turn = (await decideInLane(loop, (state, context) => {
        if (this.#stopSource !== null || this.#run.hasEnded) return refuse('operation_conflict', 'the run is over')
        return sessions.env.isDraining() ? refuse('host_draining') : decide(state, context)
      })) as Pick<ChildTurn, 'turnId' | 'runId'>
      const child = new LinkedChildRun(sessions, loop, { ...turn, ...agentOf(loop) })
      await waitFor(loop, turn.turnId, 'started')
      return child
    })
  }

  /** Sessions below one another, counted from the one that nobody's run has started. Source: T13. */
  async #assertShallow(): Promise<void> {
    const { store } = this.#root.sessions.env
    let { parent } = this.#run.header
    for (let depth = 1; parent !== undefined; depth++) {
      if (depth >= LIMITS.childDepth) {
        throw new HeadwaterError('too_large', `children of children go at most ${LIMITS.childDepth} deep`)
      }
      const row = await store.row('session', '', parent.sessionId)
      parent = row === undefined ? undefined : decodeJson<SessionRow>(row).header.parent
    }
  }

  /** Admits a message, of which every artifact has to be there. Source: C1. */
  async #saying(content: Content, admit: () => Promise<LinkedChildRun>): Promise<LinkedChildRun> {
    const gate = this.#root.sessions.env.artifacts
    const named = artifactsOfContent(content)
    const letGo = gate.hold(named)
    try {
      const artifact = await gate.firstMissing(named)
      if (artifact === undefined) return await admit()
      throw new HeadwaterError('not_found', 'an attachment names an artifact that is not here', { artifact })
    } finally {
      letGo()
    }
  }

  #within(ms: number, promise: Promise<void>): Promise<void> {
    return new Promise(resolve => {
      const cancel = this.#root.sessions.env.clock.schedule(ms, resolve)
      void promise.finally(() => {
        cancel()
        resolve()
      })
    })
  }
}

function agentOf({ core }: SessionLoop): Pick<ChildTurn, 'agentId' | 'agentName'> {
  const { agentId, agentName } = core.state.header?.parent ?? { agentId: '', agentName: '' }
  return { agentId, agentName }
}
