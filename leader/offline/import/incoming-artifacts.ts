import { createHash, type Hash } from 'node:crypto'
import { LIMITS } from '../../../schema/limits.ts'
import type { Store } from '../../log/store.ts'
import { uploadId, useRow } from '../../session/rows/named-rows.ts'
import type { ImportItem } from './import-item.ts'
import { refused } from './incoming-ledger.ts'

type Piece = Extract<ImportItem, { kind: 'piece' }>

interface Open {
  readonly artifact: string
  readonly bytes: number
  readonly mimeType: string
  readonly digest: Hash
  readonly isKnown: boolean
  received: number
  nextIndex: number
}

/** Takes artifacts piece by piece. As an upload, each stays for a while if the session that names it never comes to be. Source: L5. */
export class IncomingArtifacts {
  readonly #store: Store
  readonly #now: () => number
  #open: Open | null = null
  #count = 0

  constructor(store: Store, now: () => number) {
    this.#store = store
    this.#now = now
  }

  get count(): number {
    return this.#count
  }

  /** Throws `invalid_request` for a piece that does not follow on, or bytes that are not what their name says. */
  async take(piece: Piece): Promise<void> {
    const open = this.#open ?? (await this.#begin(piece))
    this.#open = open
    const isNext =
      open.artifact === piece.artifact &&
      open.bytes === piece.bytes &&
      piece.index === open.nextIndex &&
      piece.piece.length <= LIMITS.artifactPieceBytes
    if (!isNext) throw refused(`piece ${open.nextIndex} of the artifact ${open.artifact} is missing`)
    open.digest.update(piece.piece)
    open.received += piece.piece.length
    open.nextIndex += 1
    const isLast = open.received >= open.bytes
    if (!isLast && piece.piece.length !== LIMITS.artifactPieceBytes) throw refused('a piece in the middle is too short')
    if (!open.isKnown && piece.piece.length > 0)
      await this.#store.putArtifactPiece(open.artifact, piece.index, piece.piece)
    if (isLast) await this.#finish(open)
  }

  /** Throws `invalid_request` where an artifact did not end. */
  end(): void {
    if (this.#open !== null) throw refused(`the artifact ${this.#open.artifact} is cut off`)
  }

  async #begin({ artifact, bytes, mimeType }: Piece): Promise<Open> {
    if (bytes > LIMITS.artifactBytes) throw refused(`the artifact ${artifact} is too large`)
    // First, so that no sweep takes it away meanwhile.
    await this.#store.putRows('', [useRow(uploadId(artifact), { at: this.#now() })])
    const isKnown = (await this.#store.artifact(artifact)) !== undefined
    return { artifact, bytes, mimeType, digest: createHash('sha256'), isKnown, received: 0, nextIndex: 0 }
  }

  async #finish({ artifact, bytes, mimeType, digest, isKnown, received }: Open): Promise<void> {
    this.#open = null
    if (received !== bytes || `sha256:${digest.digest('hex')}` !== artifact) {
      throw refused(`the artifact ${artifact} is not what its name says`)
    }
    if (!isKnown) await this.#store.putArtifact(artifact, { bytes, mimeType })
    this.#count += 1
  }
}
