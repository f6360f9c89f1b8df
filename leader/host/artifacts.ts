import { createHash } from 'node:crypto'
import { HeadwaterError } from '../../schema/errors.ts'
import { LIMITS } from '../../schema/limits.ts'
import type { Store } from '../log/store.ts'
import type { ArtifactGate } from '../session/removal/artifact-gate.ts'
import { uploadId, useRow } from '../session/rows/named-rows.ts'

/** Texts and files that are stored once, by the hash of their bytes. Source: L5. */
export class Artifacts {
  readonly #store: Store
  readonly #gate: ArtifactGate
  readonly #now: () => number
  /** Bytes of uploads that are not stored yet. */
  #gathering = 0

  constructor(store: Store, gate: ArtifactGate, now: () => number = Date.now) {
    this.#store = store
    this.#gate = gate
    this.#now = now
  }

  /**
   * Stores bytes; durable when it resolves. They stay for a while without being named. The same bytes again are only noted as uploaded anew.
   * Errors: `too_large`.
   */
  async put(bytes: Uint8Array, mimeType: string): Promise<{ readonly hash: string }> {
    if (bytes.length > LIMITS.artifactBytes) throw new HeadwaterError('too_large', 'an artifact is at most 64 MiB')
    const hash = `sha256:${createHash('sha256').update(bytes).digest('hex')}`
    const letGo = this.#gate.hold([hash])
    try {
      await this.#putHeld(hash, bytes, mimeType)
    } finally {
      letGo()
    }
    return { hash }
  }

  async #putHeld(hash: string, bytes: Uint8Array, mimeType: string): Promise<void> {
    const isThere = await this.#gate.has(hash)
    // First, so that no sweep takes it away afterwards.
    await this.#store.putRows('', [useRow(uploadId(hash), { at: this.#now() })])
    if (isThere) return
    for (let index = 0; index * LIMITS.artifactPieceBytes < bytes.length; index++) {
      const start = index * LIMITS.artifactPieceBytes
      await this.#store.putArtifactPiece(hash, index, bytes.subarray(start, start + LIMITS.artifactPieceBytes))
    }
    await this.#store.putArtifact(hash, { bytes: bytes.length, mimeType })
  }

  /** Gathers an upload and stores it. Errors: `too_large`; `rate_limited` while other uploads take too much memory. */
  async receive(
    parts: AsyncIterable<Uint8Array>,
    mimeType: string,
  ): Promise<{ readonly hash: string; readonly bytes: number }> {
    const gathered: Uint8Array[] = []
    let bytes = 0
    try {
      for await (const part of parts) {
        bytes += part.length
        this.#gathering += part.length
        if (bytes > LIMITS.artifactBytes) throw new HeadwaterError('too_large', 'an artifact is at most 64 MiB')
        if (this.#gathering > LIMITS.uploadsBytes) throw new HeadwaterError('rate_limited', 'too many uploads at once')
        gathered.push(part)
      }
      const { hash } = await this.put(Buffer.concat(gathered), mimeType)
      return { hash, bytes }
    } finally {
      this.#gathering -= bytes
    }
  }

  /** An artifact's size and its pieces in order, or undefined. */
  async open(
    hash: string,
  ): Promise<{ bytes: number; mimeType: string; pieces: AsyncIterable<Uint8Array> } | undefined> {
    const found = await this.#store.artifact(hash)
    return found === undefined ? undefined : { ...found, pieces: this.#pieces(hash, found.bytes) }
  }

  /** All bytes of an artifact, or null. */
  async read(hash: string): Promise<Uint8Array | null> {
    const found = await this.open(hash)
    if (found === undefined) return null
    const pieces: Uint8Array[] = []
    for await (const piece of found.pieces) pieces.push(piece)
    return Buffer.concat(pieces)
  }

  async *#pieces(hash: string, bytes: number): AsyncGenerator<Uint8Array> {
    for (let index = 0; index * LIMITS.artifactPieceBytes < bytes; index++) {
      const piece = await this.#store.artifactPiece(hash, index)
      if (piece === undefined) throw new HeadwaterError('storage_fault', 'a piece of an artifact is missing')
      yield piece
    }
  }
}
