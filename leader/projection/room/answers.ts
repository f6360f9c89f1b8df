import { encodeSyncStep2 } from '../../../schema/wire/sync.ts'
import type { RoomDocument } from '../room-document.ts'

/** A sync answer: the message, and the number of the newest update in it. */
export interface Answer {
  readonly number: number
  readonly message: Uint8Array
}

/** Vectors of one number that are kept; replicas that reconnect together hold few different ones. */
const KEPT_ANSWERS = 64

/** Sync answers by (number, state vector): many replicas that reconnect at once cost one encode. Source: architecture 4. */
export class AnswerCache {
  readonly #messages = new Map<string, Uint8Array>()
  #document: RoomDocument | null = null
  #number = -1

  /** What the holder of `stateVector` lacks of the document as it is now. */
  answer(document: RoomDocument, stateVector: Uint8Array): Answer {
    if (document !== this.#document || document.number !== this.#number) {
      this.#messages.clear()
      this.#document = document
      this.#number = document.number
    }
    const key = Buffer.from(stateVector.buffer, stateVector.byteOffset, stateVector.byteLength).toString('latin1')
    let message = this.#messages.get(key)
    if (message === undefined) {
      message = encodeSyncStep2(document.encode(stateVector))
      if (this.#messages.size < KEPT_ANSWERS) this.#messages.set(key, message)
    }
    return { number: this.#number, message }
  }

  /** Forgets all answers. */
  clear(): void {
    this.#messages.clear()
    this.#document = null
  }
}
