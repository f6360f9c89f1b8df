import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'
import type { PresenceRow } from '../entities/projection.ts'

/** Message types of the y-websocket protocol. */
export const SYNC_MESSAGE = { sync: 0, awareness: 1, auth: 2, queryAwareness: 3 } as const
/** Kinds of a sync message of the y-protocols sync protocol. */
export const SYNC_STEP = { step1: 0, step2: 1, update: 2 } as const

/** The subprotocol the leader echoes; a credential travels as a second one, `bearer.<credential>`. Source: V1. */
export const SUBPROTOCOL = 'headwater.v1'
/** What a credential's subprotocol begins with. Source: V1. */
export const BEARER_PREFIX = 'bearer.'

/** What the leader says of a document in its own awareness, right after sync step 2. Source: V1, V4. */
export interface LeaderAwareness {
  readonly hostEpoch: string
  readonly baseRevision: number
  readonly generation: string
  readonly presence: readonly PresenceRow[]
  readonly presenceCount: number
  /** The leader's clock when it said so. */
  readonly at: number
  /** Set when the document went back behind what was seen here: a restored copy. Source: V6. */
  readonly wentBack?: boolean
  /** Set while the session is damaged and read-only. Source: D1. */
  readonly isDamaged?: boolean
}

/** A message a replica may send, or why it must be closed. Source: V1. */
export type ClientSyncMessage =
  | { readonly kind: 'sync_step_1'; readonly stateVector: Uint8Array }
  | { readonly kind: 'query_awareness' }
  | { readonly kind: 'awareness' }
  | { readonly kind: 'write' }
  | { readonly kind: 'malformed' }

/** Reads a replica's document message by an allow-list; never throws, never decodes Yjs content. Source: A4, V1. */
export function readClientSyncMessage(bytes: Uint8Array): ClientSyncMessage {
  try {
    const decoder = decoding.createDecoder(bytes)
    const type = decoding.readVarUint(decoder)
    if (type === SYNC_MESSAGE.queryAwareness) return isAtEnd(decoder, { kind: 'query_awareness' })
    if (type === SYNC_MESSAGE.awareness) {
      decoding.readVarUint8Array(decoder)
      return isAtEnd(decoder, { kind: 'awareness' })
    }
    if (type !== SYNC_MESSAGE.sync) return { kind: 'malformed' }
    const step = decoding.readVarUint(decoder)
    if (step === SYNC_STEP.step2 || step === SYNC_STEP.update) return { kind: 'write' }
    if (step !== SYNC_STEP.step1) return { kind: 'malformed' }
    const stateVector = decoding.readVarUint8Array(decoder).slice()
    return isAtEnd(decoder, { kind: 'sync_step_1', stateVector })
  } catch {
    return { kind: 'malformed' }
  }
}

function isAtEnd(decoder: decoding.Decoder, message: ClientSyncMessage): ClientSyncMessage {
  return decoding.hasContent(decoder) ? { kind: 'malformed' } : message
}

function syncMessage(step: number, payload: Uint8Array): Uint8Array {
  const encoder = encoding.createEncoder()
  encoding.writeVarUint(encoder, SYNC_MESSAGE.sync)
  encoding.writeVarUint(encoder, step)
  encoding.writeVarUint8Array(encoder, payload)
  return encoding.toUint8Array(encoder)
}

/** A whole message that asks for what this state vector lacks. */
export function encodeSyncStep1(stateVector: Uint8Array): Uint8Array {
  return syncMessage(SYNC_STEP.step1, stateVector)
}

/** A whole message that answers sync step 1. */
export function encodeSyncStep2(update: Uint8Array): Uint8Array {
  return syncMessage(SYNC_STEP.step2, update)
}

/** A whole message that carries an update. */
export function encodeSyncUpdate(update: Uint8Array): Uint8Array {
  return syncMessage(SYNC_STEP.update, update)
}

/** An awareness message with the leader's one entry. `clock` grows with each message of one `clientId`. */
export function encodeLeaderAwareness(clientId: number, clock: number, state: LeaderAwareness): Uint8Array {
  const inner = encoding.createEncoder()
  encoding.writeVarUint(inner, 1)
  encoding.writeVarUint(inner, clientId)
  encoding.writeVarUint(inner, clock)
  encoding.writeVarString(inner, JSON.stringify(state))
  const encoder = encoding.createEncoder()
  encoding.writeVarUint(encoder, SYNC_MESSAGE.awareness)
  encoding.writeVarUint8Array(encoder, encoding.toUint8Array(inner))
  return encoding.toUint8Array(encoder)
}

/** A message the leader sends on a document. */
export type LeaderSyncMessage =
  | { readonly kind: 'sync_step_2' | 'update'; readonly update: Uint8Array }
  | { readonly kind: 'awareness'; readonly state: LeaderAwareness | null }
  | { readonly kind: 'malformed' }

/** Reads what the leader sent; never throws. An awareness message without the leader's state gives null. */
export function readLeaderSyncMessage(bytes: Uint8Array): LeaderSyncMessage {
  try {
    const decoder = decoding.createDecoder(bytes)
    const type = decoding.readVarUint(decoder)
    if (type === SYNC_MESSAGE.awareness) {
      return { kind: 'awareness', state: readAwarenessState(decoding.readVarUint8Array(decoder)) }
    }
    if (type !== SYNC_MESSAGE.sync) return { kind: 'malformed' }
    const step = decoding.readVarUint(decoder)
    if (step !== SYNC_STEP.step2 && step !== SYNC_STEP.update) return { kind: 'malformed' }
    return { kind: step === SYNC_STEP.step2 ? 'sync_step_2' : 'update', update: decoding.readVarUint8Array(decoder) }
  } catch {
    return { kind: 'malformed' }
  }
}

function readAwarenessState(bytes: Uint8Array): LeaderAwareness | null {
  const decoder = decoding.createDecoder(bytes)
  const count = decoding.readVarUint(decoder)
  let state: LeaderAwareness | null = null
  for (let i = 0; i < count; i++) {
    decoding.readVarUint(decoder)
    decoding.readVarUint(decoder)
    const value = JSON.parse(decoding.readVarString(decoder)) as LeaderAwareness | null
    if (value !== null && typeof value === 'object' && typeof value.hostEpoch === 'string') state = value
  }
  return state
}
