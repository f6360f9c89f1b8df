import { join } from 'node:path'
import type { Fault } from '../../schema/commands/host.ts'
import { keptSets, removeSet } from '../log/root/anchor/kept-files.ts'
import { createFile } from '../log/root/atomic-file.ts'
import { readBounded } from '../log/root/marker.ts'
import type { FrozenReader, Store } from '../log/store.ts'
import type { SessionLog } from '../session/environment.ts'
import type { SessionRegistry } from '../session/registry.ts'
import { verifySession } from '../verify/verify-session.ts'

const PAGE_SESSIONS = 256
const SINCE_FILE = 'since'
const SINCE_CHARS = 32

/** Kinds of faults that leave a session itself whole. */
const DERIVED = /^(?:row|artifact)_/

const ACTIVITY = /^[ua]\.(\d{15})\.(.+)$/
const NEWEST = 999_999_999_999_999

/**
 * Notes for each new set from when on sessions may be touched by it: `formerStart`, when the epoch before this one began. To be called before
 * this epoch writes anything. Unit: ms. Never rejects: what is not noted counts as 0. Source: D1.
 */
export async function noteSince(root: string, formerStart: number, log: Pick<SessionLog, 'error'>): Promise<void> {
  try {
    for (const set of await keptSets(root)) await createFile(join(set, SINCE_FILE), String(formerStart), 0o600)
  } catch (error) {
    log.error({ err: error }, 'it could not be noted since when files are kept')
  }
}

/** What the check works on. */
export interface KeptCheckParts {
  readonly root: string
  readonly store: Store
  readonly sessions: Pick<SessionRegistry, 'quarantine' | 'isDamaged'>
  readonly log: Pick<SessionLog, 'info' | 'error'>
}

/**
 * Looks in the background whether what the files that were put aside had to say has arrived: it checks each session that was active since the
 * start before. When all are well the files are removed; while one is damaged they stay, and the session is read-only. Source: D1.
 */
export class KeptCheck {
  readonly #parts: KeptCheckParts
  #sets: readonly string[] = []
  #isStopped = false
  #hasDamage = false
  #running: Promise<void> = Promise.resolve()

  constructor(parts: KeptCheckParts) {
    this.#parts = parts
  }

  /** Where files are kept because a session is damaged. */
  get faults(): readonly Fault[] {
    const set = this.#sets[0]
    if (!this.#hasDamage || set === undefined) return []
    const message = `Database files from before the last start are kept in ${set}, because a session they touch is damaged: headwater doctor`
    return [{ code: 'session_damaged', kind: 'files_kept', message }]
  }

  /** Begins the check, if there is anything to check. */
  start(): void {
    this.#running = this.#run()
  }

  /** Gives the check up; the next start begins it again. Resolves when it reads nothing any more. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#running
  }

  async #run(): Promise<void> {
    const { store, root, log } = this.#parts
    let frozen: FrozenReader | undefined
    try {
      this.#sets = await keptSets(root)
      if (this.#sets.length === 0) return
      frozen = await store.freeze()
      const since = await this.#since()
      let checked = 0
      for await (const sessionId of touchedSessions(frozen, since)) {
        if (this.#isStopped) return
        await this.#check(frozen, sessionId)
        checked += 1
      }
      if (this.#isStopped) return
      log.info({ sessions: checked, is_damaged: this.#hasDamage }, 'the sessions before the last start are checked')
      if (this.#hasDamage) return
      for (const set of this.#sets) await removeSet(root, set)
      this.#sets = []
    } catch (error) {
      if (!this.#isStopped) log.error({ err: error }, 'the sessions before the last start could not be checked')
    } finally {
      await frozen?.close()
    }
  }

  async #check(frozen: FrozenReader, sessionId: string): Promise<void> {
    const { sessions } = this.#parts
    const goOn = (): void => {
      if (this.#isStopped) throw new Error('the leader stops')
    }
    const { faults } = await verifySession(frozen, sessionId, goOn)
    if (this.#isStopped || faults.length === 0) return
    // Its faults are those of reading, not the session's. Source: A9, E7.
    if (!frozen.isOpen) throw new Error('the database was opened anew meanwhile')
    this.#hasDamage = true
    const grave = faults.find(({ kind = '' }) => !DERIVED.test(kind))
    if (grave === undefined || sessions.isDamaged(sessionId)) return
    const { kind, revision = 0, message = '' } = grave
    sessions.quarantine(sessionId, `${kind} at revision ${revision}: ${message}`)
  }

  /** The earliest time of all sets; 0, and so everything, where one is not known. */
  async #since(): Promise<number> {
    const times = await Promise.all(
      this.#sets.map(async set => Number((await readBounded(join(set, SINCE_FILE), SINCE_CHARS)) ?? 0) || 0),
    )
    return Math.min(...times)
  }
}

/** Sessions that somebody or a run has worked in since then, and those with unfinished work. */
async function* touchedSessions(store: FrozenReader, since: number): AsyncGenerator<string> {
  for (const prefix of ['u.', 'a.']) yield* activeSince(store, prefix, since)
  for (let after: string | undefined; ; ) {
    const page = await store.rows('active', '', { limit: PAGE_SESSIONS, ...(after === undefined ? {} : { after }) })
    for (const { id } of page) yield id
    after = page.at(-1)?.id
    if (after === undefined || page.length < PAGE_SESSIONS) return
  }
}

/** In the order of the list, newest first, until the first one that was at rest before. */
async function* activeSince(store: FrozenReader, prefix: string, since: number): AsyncGenerator<string> {
  for (let after = prefix; ; ) {
    const page = await store.rows('activity', '', { after, limit: PAGE_SESSIONS })
    for (const { id } of page) {
      const [, newestFirst, sessionId] = ACTIVITY.exec(id) ?? []
      if (!id.startsWith(prefix) || sessionId === undefined || NEWEST - Number(newestFirst) < since) return
      yield sessionId
    }
    const last = page.at(-1)?.id
    if (last === undefined || page.length < PAGE_SESSIONS) return
    after = last
  }
}
