import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { LIMITS } from '../../../schema/limits.ts'
import { MARKER_FILE, type Places } from '../../../schema/places.ts'
import type { Registration } from '../../../schema/wire/registration.ts'
import { backOffMs } from '../link/back-off.ts'
import type { Locate, Located, Surroundings } from '../ports.ts'
import type { SpawnOptions } from '../types.ts'
import { findRegistrations, readRootId } from './discovery.ts'
import { localEndpoint } from './endpoint.ts'
import { type CandidateEnd, launchCandidate } from './spawn.ts'

/** Refusals of a candidate that time may cure: another leader has the root, or is about to let it go. */
const PASSING: ReadonlySet<string> = new Set(['root_owned', 'root_name_taken', 'host_draining', 'invalid_lease'])

/** Epochs a search remembers. */
const TRIED_EPOCHS = 64

/** Looks for what a candidate writes down, before another way is tried. */
const LOOKS = 64

const RETRY_FIRST_MS = LIMITS.spawnRetryCapMs

/** What the search for a root's leader needs. `spawn` absent: none is started. */
export interface RootSearch {
  readonly root: string
  readonly places: Places
  readonly spawn?: SpawnOptions
  readonly surroundings: Surroundings
}

/**
 * Looks for the leader of a root by its registrations, and starts a candidate where none answers: at once where there is no registration,
 * else when the same one comes up again, because then it did not lead to a leader. One candidate at a time; while it comes up, what it
 * writes down is looked for at the short pace. Source: E3, R8.
 */
export function rootLocator(search: RootSearch): Locate {
  const launcher = new CandidateLauncher(search)
  const tried = new Set<string>()
  let looks = 0
  return async ({ maySpawn, signal }) => {
    let found = await registrationsOf(search)
    let untried = firstUntried(found, tried)
    if (untried === undefined && maySpawn && search.spawn !== undefined && !signal.aborted) {
      const failure = await launcher.launch()
      if (failure !== undefined) return absent(failure, true)
      for (let look = 0; look < LOOKS && launcher.isRunning && untried === undefined && !signal.aborted; look++) {
        await pause(search.surroundings, look)
        found = await registrationsOf(search)
        untried = firstUntried(found, tried)
      }
    }
    const registration = untried ?? found[looks % Math.max(1, found.length)]
    looks += 1
    if (registration === undefined) return absent(await absenceOf(search), false)
    if (tried.size >= TRIED_EPOCHS) tried.clear()
    tried.add(registration.hostEpoch)
    return { kind: 'found', endpoint: await localEndpoint(registration.socketPath, registration.rootId) }
  }
}

async function registrationsOf({ root, places }: RootSearch): Promise<readonly Registration[]> {
  return (await findRegistrations(places, root)).here
}

function firstUntried(found: readonly Registration[], tried: ReadonlySet<string>): Registration | undefined {
  return found.find(({ hostEpoch }) => !tried.has(hostEpoch))
}

function pause({ clock, random }: Surroundings, attempt: number): Promise<void> {
  const waitMs = backOffMs({ pace: 'start', attempt, random: random(), atLeastMs: LIMITS.spawnRetryFirstMs })
  return new Promise(resolve => clock.after(waitMs, resolve))
}

function absent(reason: string, isFinal: boolean): Located {
  return { kind: 'absent', reason, isFinal }
}

async function absenceOf({ root, spawn }: RootSearch): Promise<string> {
  if (spawn !== undefined) return `no leader of ${root} has come up yet`
  if ((await readRootId(root)) !== undefined) return `no leader runs for ${root}`
  return (await isMarked(root)) ? `the marker of ${root} cannot be read` : `${root} is no data root yet`
}

async function isMarked(root: string): Promise<boolean> {
  const marker = await stat(join(root, MARKER_FILE)).catch(() => undefined)
  return marker !== undefined
}

/** Keeps at most one candidate in flight, and a growing while between two that did not last. */
class CandidateLauncher {
  readonly #search: RootSearch
  #isRunning = false
  #startedAt = 0
  #notBefore = Number.NEGATIVE_INFINITY
  #failures = 0
  #fatal: string | undefined

  constructor(search: RootSearch) {
    this.#search = search
  }

  get isRunning(): boolean {
    return this.#isRunning
  }

  /** Launches a candidate unless one runs or it is too early; gives why no candidate will ever make it. */
  async launch(): Promise<string | undefined> {
    const fatal = this.#fatal
    this.#fatal = undefined
    const { root, places, spawn = {}, surroundings } = this.#search
    if (fatal !== undefined || this.#isRunning || surroundings.clock.now() < this.#notBefore) return fatal
    this.#isRunning = true
    this.#startedAt = surroundings.clock.now()
    try {
      const candidate = await launchCandidate({ root, logs: places.logs, spawn })
      void candidate.ended.then(async end => this.#onEnd(end, await this.#mayPass(end)))
      return undefined
    } catch (error) {
      this.#isRunning = false
      return `a leader cannot be started: ${(error as Error).message}`
    }
  }

  /** A root whose name a leader elsewhere has will not get it back soon: they are copies of each other. Source: R2. */
  async #mayPass(end: CandidateEnd): Promise<boolean> {
    if (end.code !== 'root_name_taken') return mayPass(end)
    const { root, places } = this.#search
    return (await findRegistrations(places, root)).elsewhere.length === 0
  }

  #onEnd(end: CandidateEnd, mayPass: boolean): void {
    const { clock, random } = this.#search.surroundings
    this.#isRunning = false
    // One that lasted was a leader: the next may come at once.
    const hasLasted = clock.now() - this.#startedAt > LIMITS.candidateRetryCapMs
    this.#failures = hasLasted ? 0 : this.#failures + 1
    const waitMs = Math.min(LIMITS.candidateRetryCapMs, RETRY_FIRST_MS * 2 ** Math.min(this.#failures - 1, 10))
    this.#notBefore = hasLasted ? clock.now() : clock.now() + waitMs * (0.5 + random() / 2)
    if (!hasLasted && !mayPass) this.#fatal = `a leader was started but ended: ${end.message}`
  }
}

/** True where another candidate may do better: this one met another leader, was ended from outside, or ended well. */
function mayPass({ hasStarted, exitCode, code }: CandidateEnd): boolean {
  if (!hasStarted) return false
  return code === undefined ? exitCode === null || exitCode === 0 || exitCode === 3 : PASSING.has(code)
}
