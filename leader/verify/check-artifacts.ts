import { createHash } from 'node:crypto'
import type { Fault } from '../../schema/commands/host.ts'
import { LIMITS } from '../../schema/limits.ts'
import type { StoreReader } from '../log/store.ts'
import type { LedgerStep, Note } from '../session/ledger/ledger-walk.ts'

const NAME = /"artifact":"(sha256:[0-9a-f]{64})"/g
const NAME_START = Buffer.from('"artifact":"sha256:')
const PAGE_ARTIFACTS = 256

/** The artifacts that a session's records name: each has to be there. Source: L5, D2. */
export class NamedArtifacts {
  readonly #store: StoreReader
  readonly #note: Note
  /** With the revision that names it first. */
  readonly #unchecked = new Map<string, number>()
  readonly #known = new Set<string>()

  constructor(store: StoreReader, note: Note) {
    this.#store = store
    this.#note = note
  }

  take({ record, bytes }: LedgerStep): void {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    if (!text.includes(NAME_START)) return
    for (const [, hash = ''] of text.toString('utf8').matchAll(NAME)) {
      if (!this.#known.has(hash) && !this.#unchecked.has(hash)) this.#unchecked.set(hash, record.revision)
    }
  }

  /** Looks for those that were named since the last time. */
  async check(): Promise<void> {
    if (this.#known.size > LIMITS.verifyArtifactsNamed) this.#known.clear()
    for (const [hash, revision] of this.#unchecked) {
      if ((await this.#store.artifact(hash)) === undefined) {
        this.#note('artifact_missing', revision, `the artifact ${hash} is missing`)
      }
      this.#known.add(hash)
    }
    this.#unchecked.clear()
  }
}

/** Every artifact whose bytes are not what its name says. */
export async function* checkArtifacts(store: StoreReader): AsyncGenerator<Fault> {
  for (let cursor: string | undefined; ; ) {
    const page = await store.artifacts(cursor, PAGE_ARTIFACTS)
    for (const hash of page) {
      const message = await whyDamaged(store, hash)
      if (message !== null)
        yield { code: 'storage_fault', kind: 'artifact_damaged', message: `the artifact ${hash} ${message}` }
    }
    cursor = page.at(-1)
    if (cursor === undefined) return
  }
}

async function whyDamaged(store: StoreReader, hash: string): Promise<string | null> {
  try {
    const meta = await store.artifact(hash)
    const digest = createHash('sha256')
    let bytes = 0
    for (let index = 0; bytes < (meta?.bytes ?? 0); index++) {
      const piece = await store.artifactPiece(hash, index)
      if (piece === undefined || piece.length === 0) return `lacks its piece ${index}`
      digest.update(piece)
      bytes += piece.length
    }
    return `sha256:${digest.digest('hex')}` === hash ? null : 'is not what its name says'
  } catch (error) {
    return `cannot be read: ${error instanceof Error ? error.message : String(error)}`
  }
}
