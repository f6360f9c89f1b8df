import { HeadwaterError, isHeadwaterError } from '../../../schema/errors.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { decideChildDelete } from '../../domain/decide/session.ts'
import { activeTurn } from '../../domain/state.ts'
import { waitFor } from '../children/child-run.ts'
import { decideInLane } from '../children/in-lane.ts'
import { childrenOf } from '../commands/lookups.ts'
import { whenStoreSettled } from '../core/repair.ts'
import type { SessionRegistry } from '../registry.ts'
import { PURGE_PREFIX } from '../rows/removal-rows.ts'
import type { SessionLoop } from '../session-loop.ts'
import { type SweepPorts, sweepArtifacts } from './artifact-sweep.ts'
import { Purge, PurgeStopped } from './purge.ts'

const PAGE_PURGES = 256

/** How often it is tried to delete a child whose turn runs. */
const CHILD_TRIES = 8

/** How often a purge is tried in one epoch. */
const PURGE_TRIES = 4

interface Waiting {
  readonly sessionId: string
  /** Its linked children have gone; rejects where they could not be deleted yet. */
  readonly childless: Promise<void>
  readonly tries: number
}

/** Lets go of who waits for what takes long and can be done again. */
class Stop {
  readonly #waiting = new Set<() => void>()
  #isStopped = false

  get isStopped(): boolean {
    return this.#isStopped
  }

  stop(): void {
    this.#isStopped = true
    for (const letGo of this.#waiting) letGo()
  }

  /** As the promise, but throws PurgeStopped as soon as it is stopped. */
  async unless<T>(promise: Promise<T>): Promise<T> {
    let letGo = (): void => {}
    const stopped = new Promise<never>((_resolve, reject) => {
      letGo = () => reject(new PurgeStopped())
    })
    this.#waiting.add(letGo)
    if (this.#isStopped) letGo()
    try {
      return await Promise.race([stopped, promise])
    } finally {
      this.#waiting.delete(letGo)
    }
  }
}

/**
 * The purges of deleted sessions, one after the other in the background. Linked children go first, at once. What a stop or a death cuts
 * off is gone on with after the next start. Source: S5.
 */
export class Purges {
  readonly #sessions: () => SessionRegistry
  /** Sessions to be purged; those whose children are going wait for them. */
  readonly #waiting: Waiting[] = []
  #running: Promise<void> | null = null
  readonly #stop = new Stop()

  constructor(sessions: () => SessionRegistry) {
    this.#sessions = sessions
  }

  /** Purges under way and waiting. */
  get length(): number {
    return this.#waiting.length + (this.#running === null ? 0 : 1)
  }

  /** A session's deletion is durable; resolves when its linked children have gone too. Never rejects. */
  add(sessionId: string): Promise<void> {
    if (this.#stop.isStopped) return Promise.resolve()
    const childless = this.#wait(sessionId, 1)
    this.#running ??= this.#run()
    return childless.catch(() => {})
  }

  #wait(sessionId: string, tries: number): Promise<void> {
    const childless = this.#deleteChildren(sessionId)
    // It is looked at when its turn comes.
    childless.catch(() => {})
    this.#waiting.push({ sessionId, childless, tries })
    return childless
  }

  /** Goes on with what was cut off; reads nothing of what is done. Resolves when all of it is under way. */
  async resume(): Promise<void> {
    const { store } = this.#sessions().env
    for (let after = PURGE_PREFIX; ; ) {
      const page = await store.rows('tombstone', '', { after, limit: PAGE_PURGES })
      const pending = page.filter(({ id }) => id.startsWith(PURGE_PREFIX))
      for (const { id } of pending) void this.add(id.slice(PURGE_PREFIX.length))
      const last = pending.at(-1)
      if (last === undefined || pending.length < PAGE_PURGES) return
      after = last.id
    }
  }

  /** Resolves when nothing is left to do. */
  async idle(): Promise<void> {
    while (this.#running !== null) await this.#running
  }

  /** Nothing new is begun; resolves when what is under way has come to a point where it can be gone on with. */
  async stop(): Promise<void> {
    this.#stop.stop()
    await this.#running
  }

  async #run(): Promise<void> {
    const purged: Purge[] = []
    for (let next = this.#waiting.shift(); next !== undefined && !this.#stop.isStopped; next = this.#waiting.shift()) {
      try {
        await this.#stop.unless(next.childless)
        await this.#stop.unless(this.#sessions().whenForked(next.sessionId))
        purged.push(...(await this.#purge(next.sessionId)))
      } catch (error) {
        await this.#failed(next, error)
      }
    }
    if (purged.length > 0 && !this.#stop.isStopped) {
      await this.#stop.unless(this.#finish(purged)).catch(error => this.#note('', error))
    }
    this.#running = this.#waiting.length > 0 && !this.#stop.isStopped ? this.#run() : null
  }

  /** Tried again when the storage is well; what never succeeds is left to the next start. */
  async #failed({ sessionId, tries }: Waiting, error: unknown): Promise<void> {
    this.#note(sessionId, error)
    if (this.#stop.isStopped || tries >= PURGE_TRIES) return
    const isWell = await this.#stop.unless(whenStoreSettled(this.#sessions().env.store, { writable: true })).then(
      () => true,
      () => false,
    )
    if (isWell && !this.#stop.isStopped) this.#wait(sessionId, tries + 1)
  }

  /** The session, and whatever was kept for it alone. */
  async #purge(sessionId: string): Promise<readonly Purge[]> {
    const { crash } = this.#sessions().env
    const ports = { ...this.#sweepPorts, crash, isStopped: () => this.#stop.isStopped }
    const purged: Purge[] = []
    for (let id: string | null = sessionId; id !== null; ) {
      const purge: Purge = new Purge(ports, id)
      const source: string | null = await purge.run()
      purged.push(purge)
      id = source !== null && (await new Purge(ports, source).reopen()) ? source : null
    }
    return purged
  }

  /** Once for all that were purged together. */
  async #finish(purged: readonly Purge[]): Promise<void> {
    const { store } = this.#sessions().env
    const gone = new Set<string>()
    for (const purge of purged) if (await purge.isWhole()) gone.add(purge.sessionId)
    const swept = await sweepArtifacts(this.#sweepPorts, { gone, isStopped: () => this.#stop.isStopped })
    const removed = purged.map(purge => purge.removedArtifacts)
    const artifacts = [...swept, ...removed.flatMap(hashes => hashes ?? [])]
    const isTold = !removed.includes(null) && artifacts.length <= LIMITS.purgeArtifacts
    await store.squeezeShared(isTold ? artifacts : null)
    for (const purge of purged) if (!this.#stop.isStopped) await purge.giveSpaceBack()
  }

  get #sweepPorts(): SweepPorts {
    const { store, artifacts: gate, clock } = this.#sessions().env
    return { store, gate, now: () => clock.now() }
  }

  async #deleteChildren(sessionId: string): Promise<void> {
    const { store } = this.#sessions().env
    for (let after: string | undefined; ; ) {
      const page = await childrenOf(store, sessionId, after)
      for (const childId of page) await this.#deleteChild(sessionId, childId)
      after = page.at(-1)
      if (after === undefined) return
    }
  }

  /** A child that is damaged does not keep its parent from being purged; what failed otherwise can be done again. */
  async #deleteChild(sessionId: string, childId: string): Promise<void> {
    const sessions = this.#sessions()
    try {
      let isGone = false
      for (let tries = 0; !isGone; tries++) {
        if (tries === CHILD_TRIES)
          throw new HeadwaterError('session_busy', 'turns of a linked child start again and again')
        isGone = await sessions.using(childId, endOrDelete)
      }
    } catch (error) {
      if (!isHeadwaterError(error) || error.code !== 'session_damaged') throw error
      this.#note(childId, error)
    }
    await sessions.env.store.putRows('', [{ kind: 'child', id: `${sessionId}.${childId}`, value: null }])
  }

  #note(sessionId: string, error: unknown): void {
    if (error instanceof PurgeStopped || this.#stop.isStopped) return
    this.#sessions().env.log.error({ session_id: sessionId, err: error }, 'a deleted session could not be purged yet')
  }
}

/** Ends the turn of a linked child, or deletes it, if none runs; true once it is gone. */
async function endOrDelete(loop: SessionLoop): Promise<boolean> {
  const { state } = loop.core
  const active = activeTurn(state)
  if (active === null || state.isDeleted === true) {
    await decideInLane(loop, decideChildDelete)
    await loop.childrenDeleted
    return true
  }
  const { turnId, runId } = active.admission
  loop.runEffects([{ kind: 'stop_run', turnId, runId, abortSource: 'parent_deleted' }])
  await waitFor(loop, turnId, 'ended')
  return false
}
