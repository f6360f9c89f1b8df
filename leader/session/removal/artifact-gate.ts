import type { Store } from '../../log/store.ts'

/**
 * Keeps apart who removes an artifact and who is about to name it: one that is held is not removed, and whoever looks for one that is just
 * going waits, and then does not find it. Bounded by the commands and uploads under way. Source: L5, S5, C1.
 */
export class ArtifactGate {
  readonly #store: Pick<Store, 'artifact'>
  /** How many are about to name an artifact. */
  readonly #holds = new Map<string, number>()
  readonly #removals = new Map<string, Promise<unknown>>()

  constructor(store: Pick<Store, 'artifact'>) {
    this.#store = store
  }

  /** From now on these artifacts stay where they are; to be let go of, with what this gives, when they are named or will not be. */
  hold(hashes: Iterable<string>): () => void {
    const held = [...hashes]
    for (const hash of held) this.#holds.set(hash, (this.#holds.get(hash) ?? 0) + 1)
    return () => {
      for (const hash of held.splice(0)) {
        const left = (this.#holds.get(hash) ?? 1) - 1
        if (left === 0) this.#holds.delete(hash)
        else this.#holds.set(hash, left)
      }
    }
  }

  /** Whether an artifact that is held is there. */
  async has(hash: string): Promise<boolean> {
    await this.#removals.get(hash)
    return (await this.#store.artifact(hash)) !== undefined
  }

  /** The first of these held artifacts that is not there, or undefined. */
  async firstMissing(hashes: Iterable<string>): Promise<string | undefined> {
    for (const hash of hashes) if (!(await this.has(hash))) return hash
    return undefined
  }

  /** Does what removes an artifact, and gives what that gives; null where somebody holds it. One removal of an artifact at a time. */
  async removing<T>(hash: string, work: () => Promise<T>): Promise<T | null> {
    if (this.#holds.has(hash)) return null
    const removal = work()
    const settled = removal.then(
      () => {},
      () => {},
    )
    this.#removals.set(hash, settled)
    try {
      return await removal
    } finally {
      this.#removals.delete(hash)
    }
  }
}
