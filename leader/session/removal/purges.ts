import { LIMITS } from '../../../schema/limits.ts'
import { decideChildDelete } from '../../domain/decide/session.ts'
import { activeTurn } from '../../domain/state.ts'
import { waitFor } from '../children/child-run.ts'
import { decideInLane } from '../children/in-lane.ts'
import { childrenOf } from '../commands/lookups.ts'
import { whenStoreSettled } from '../core/repair.ts'
import type { SessionRegistry } from '../registry.ts'
import { PURGE_PREFIX } from '../rows/removal-rows.ts'
import { sweepArtifacts } from './artifact-sweep.ts'
import { Purge, PurgeStopped } from './purge.ts'

const PAGE_PURGES = 256

/** How often it is tried to delete a child whose turn runs. */
const CHILD_TRIES = 8

/** How often a purge is tried in one epoch. */
const PURGE_TRIES = 4

interface Waiting {
  readonly sessionId: string
  readonly ready: Promise<void>
  readonly tries: number
}

/** Lets go of who waits for what takes long and can be done again. */
class Stop {
  stop: () => void = () => {}
  readonly promise = new Promise<void>(resolve => {
    this.stop = resolve
  })
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
  readonly #stopped = new Stop()
  #isStopped = false

  constructor(sessions: () => SessionRegistry) {
    this.#sessions = sessions
  }

  /** Purges under way and waiting. */
  get length(): number {
    return this.#waiting.length + (this.#running === null ? 0 : 1)
  }

  /** A session's deletion is durable; resolves when its linked children have gone too. Never rejects. */
  add(sessionId: string): Promise<void> {
    const ready = this.#deleteChildren(sessionId).catch(error => this.#note(sessionId, error))
    this.#waiting.push({ sessionId, ready, tries: 1 })
    this.#running ??= this.#run()
    return ready
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
    this.#isStopped = true
    this.#stopped.stop()
    await this.#running
  }

  async #run(): Promise<void> {
    const purged: Purge[] = []
    for (let next = this.#waiting.shift(); next !== undefined && !this.#isStopped; next = this.#waiting.shift()) {
      try {
        await next.ready
        await this.#sessions().whenForked(next.sessionId)
        purged.push(...(await this.#purge(next.sessionId)))
      } catch (error) {
        await this.#failed(next, error)
      }
    }
    if (purged.length > 0 && !this.#isStopped) {
      await Promise.race([this.#finish(purged).catch(error => this.#note('', error)), this.#stopped.promise])
    }
    this.#running = this.#waiting.length > 0 && !this.#isStopped ? this.#run() : null
  }

  /** Tried again when the storage is well; what never succeeds is left to the next start. */
  async #failed({ sessionId, ready, tries }: Waiting, error: unknown): Promise<void> {
    this.#note(sessionId, error)
    if (this.#isStopped || tries >= PURGE_TRIES) return
    const isWell = await whenStoreSettled(this.#sessions().env.store, { writable: true }).then(
      () => true,
      () => false,
    )
    if (isWell) this.#waiting.push({ sessionId, ready, tries: tries + 1 })
  }

  /** The session, and whatever was kept for it alone. */
  async #purge(sessionId: string): Promise<readonly Purge[]> {
    const { store, crash } = this.#sessions().env
    const ports = { store, crash, isStopped: () => this.#isStopped }
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
    const { store, clock } = this.#sessions().env
    const swept = await sweepArtifacts(store, clock.now(), () => this.#isStopped)
    const removed = purged.map(purge => purge.removedArtifacts)
    const artifacts = [...swept, ...removed.flatMap(hashes => hashes ?? [])]
    const isTold = !removed.includes(null) && artifacts.length <= LIMITS.purgeArtifacts
    await store.squeezeShared(isTold ? artifacts : null)
    for (const purge of purged) if (!this.#isStopped) await purge.giveSpaceBack()
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

  /** A child that cannot be deleted, for it is damaged, does not keep its parent from being purged. */
  async #deleteChild(sessionId: string, childId: string): Promise<void> {
    const sessions = this.#sessions()
    try {
      for (let tries = 0; tries < CHILD_TRIES; tries++) {
        const isGone = await sessions.using(childId, async loop => {
          const active = activeTurn(loop.core.state)
          if (active === null || loop.core.state.isDeleted === true) {
            await decideInLane(loop, decideChildDelete)
            await loop.childrenDeleted
            return true
          }
          const { turnId, runId } = active.admission
          loop.runEffects([{ kind: 'stop_run', turnId, runId, abortSource: 'parent_deleted' }])
          await waitFor(loop, turnId, 'ended')
          return false
        })
        if (isGone) break
      }
    } catch (error) {
      this.#note(childId, error)
    }
    await sessions.env.store.putRows('', [{ kind: 'child', id: `${sessionId}.${childId}`, value: null }])
  }

  #note(sessionId: string, error: unknown): void {
    if (error instanceof PurgeStopped || this.#isStopped) return
    this.#sessions().env.log.error({ session_id: sessionId, err: error }, 'a deleted session could not be purged yet')
  }
}
