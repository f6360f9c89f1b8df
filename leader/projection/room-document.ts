/** A document as a room sees it. `number` grows by one with each update; `encode` gives the document at `number`. */
export interface RoomDocument {
  readonly number: number
  encode(stateVector?: Uint8Array): Uint8Array
  isAhead(stateVector: Uint8Array): boolean | 'malformed'
}

/** What the leader tells beside the document. Source: V1, V4. */
export interface RoomFacts {
  readonly hostEpoch: string
  readonly baseRevision: number
  readonly generation: string
  readonly isDamaged?: boolean
  readonly wentBack?: boolean
}
