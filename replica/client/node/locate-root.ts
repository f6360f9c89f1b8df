import { LIMITS } from '../../../schema/limits.ts'
import type { Places } from '../../../schema/places.ts'
import type { Locate, Located, Surroundings } from '../ports.ts'
import type { SpawnOptions } from '../types.ts'
import { readRegistrations, readRootId } from './discovery.ts'
import { localEndpoint } from './endpoint.ts'
import { type CandidateEnd, launchCandidate } from './spawn.ts'

/** Refusals of a candidate that time may cure: another leader has the root, or is about to let it go. */
const PASSING: ReadonlySet<string> = new Set(['root_owned', 'root_name_taken', 'host_draining', 'invalid_lease'])

/** Epochs a search remembers. */
const TRIED_EPOCHS = 64

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
 * else when the same one comes up again, because then it did not lead to a leader. One candidate at a time. Source: E3, R8.
 */
export function rootLocator(search: RootSearch): Locate {
  const launcher = new CandidateLauncher(search)
  const tried = new Set<string>()
  let looks = 0
  return async ({ maySpawn, signal }) => {
    const rootId = await readRootId(search.root)
    const found = rootId === undefined ? [] : await readRegistrations(search.places, rootId)
    const untried = found.find(({ hostEpoch }) => !tried.has(hostEpoch))
    const registration = untried ?? found[looks % Math.max(1, found.length)]
    looks += 1
    if (untried === undefined && maySpawn && search.spawn !== undefined && !signal.aborted) {
      const failure = await launcher.launch()
      if (failure !== undefined) return absent(failure, true)
    }
    if (registration === undefined) return absent(absenceOf(search, rootId), false)
    if (tried.size >= TRIED_EPOCHS) tried.clear()
    tried.add(registration.hostEpoch)
    return { kind: 'found', endpoint: await localEndpoint(registration.socketPath, registration.rootId) }
  }
}

function absent(reason: string, isFinal: boolean): Located {
  return { kind: 'absent', reason, isFinal }
}

function absenceOf({ root, spawn }: RootSearch, rootId: string | undefined): string {
  if (spawn !== undefined) return `no leader of ${root} has come up yet`
  return rootId === undefined ? `${root} is no data root yet` : `no leader runs for ${root}`
}

/** Keeps at most one candidate in flight, and a growing while between two. */
class CandidateLauncher {
  readonly #search: RootSearch
  #isRunning = false
  #notBefore = Number.NEGATIVE_INFINITY
  #failures = 0
  #fatal: string | undefined

  constructor(search: RootSearch) {
    this.#search = search
  }

  /** Launches a candidate unless one runs or it is too early; gives why no candidate will ever make it. */
  async launch(): Promise<string | undefined> {
    const fatal = this.#fatal
    this.#fatal = undefined
    if (fatal !== undefined || this.#isRunning || this.#search.surroundings.clock.now() < this.#notBefore) return fatal
    const { root, places, spawn = {} } = this.#search
    this.#isRunning = true
    try {
      const candidate = await launchCandidate({ root, logs: places.logs, spawn })
      void candidate.ended.then(end => this.#onEnd(end))
      return undefined
    } catch (error) {
      this.#isRunning = false
      return `a leader cannot be started: ${(error as Error).message}`
    }
  }

  #onEnd({ exitCode, code, message }: CandidateEnd): void {
    this.#isRunning = false
    const { clock, random } = this.#search.surroundings
    const waitMs = Math.min(LIMITS.candidateRetryCapMs, RETRY_FIRST_MS * 2 ** Math.min(this.#failures, 10))
    this.#notBefore = clock.now() + waitMs * (0.5 + random() / 2)
    // A leader that ended well was a leader: its end counts as no failure.
    this.#failures = exitCode === 0 ? 0 : this.#failures + 1
    const isPassing = exitCode === 0 || (code === undefined ? exitCode === 3 : PASSING.has(code))
    if (!isPassing) this.#fatal = `a leader was started but ended: ${message}`
  }
}
