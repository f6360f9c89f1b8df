import { HeadwaterError } from '../../schema/errors.ts'
import type { SessionHead, StoredDocument } from './store.ts'

/** A session that is not there. */
export const NO_HEAD: SessionHead = Object.freeze({ revision: 0, update: 0 })

const NUMBER_BYTES = 6
const HEAD_BYTES = 2 * NUMBER_BYTES

function view(value: Uint8Array, leastBytes: number): Buffer {
  if (value.byteLength < leastBytes) {
    throw new HeadwaterError('storage_fault', `a stored value has ${value.byteLength} bytes, not ${leastBytes}`, {
      kind: 'corruption',
    })
  }
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
}

/** A count as six bytes. */
export function encodeNumber(value: number): Uint8Array {
  const bytes = Buffer.allocUnsafe(NUMBER_BYTES)
  bytes.writeUIntBE(value, 0, NUMBER_BYTES)
  return bytes
}

/** What `encodeNumber` was given. */
export function decodeNumber(value: Uint8Array): number {
  return view(value, NUMBER_BYTES).readUIntBE(0, NUMBER_BYTES)
}

/** A head as twelve bytes. */
export function encodeHead(head: SessionHead): Uint8Array {
  const bytes = Buffer.allocUnsafe(HEAD_BYTES)
  bytes.writeUIntBE(head.revision, 0, NUMBER_BYTES)
  bytes.writeUIntBE(head.update, NUMBER_BYTES, NUMBER_BYTES)
  return bytes
}

/** What `encodeHead` was given; the head of an absent session where there is no value. */
export function decodeHead(value: Uint8Array | undefined): SessionHead {
  if (value === undefined) return NO_HEAD
  const bytes = view(value, HEAD_BYTES)
  return {
    revision: bytes.readUIntBE(0, NUMBER_BYTES),
    update: bytes.readUIntBE(NUMBER_BYTES, NUMBER_BYTES),
  }
}

type StoredSnapshot = NonNullable<StoredDocument['snapshot']>

/** A document snapshot: through, length of the generation's name, that name, the document. */
export function encodeSnapshot(snapshot: StoredSnapshot): Uint8Array {
  const generation = Buffer.from(snapshot.generation, 'utf8')
  const start = Buffer.allocUnsafe(NUMBER_BYTES + 2)
  start.writeUIntBE(snapshot.through, 0, NUMBER_BYTES)
  start.writeUInt16BE(generation.byteLength, NUMBER_BYTES)
  return Buffer.concat([start, generation, snapshot.bytes])
}

/** What `encodeSnapshot` was given. */
export function decodeSnapshot(value: Uint8Array): StoredSnapshot {
  const bytes = view(value, NUMBER_BYTES + 2)
  const nameEnd = NUMBER_BYTES + 2 + bytes.readUInt16BE(NUMBER_BYTES)
  view(value, nameEnd)
  return {
    through: bytes.readUIntBE(0, NUMBER_BYTES),
    generation: bytes.toString('utf8', NUMBER_BYTES + 2, nameEnd),
    bytes: bytes.subarray(nameEnd),
  }
}

/** An artifact's size and type. */
export function encodeArtifact(meta: { readonly bytes: number; readonly mimeType: string }): Uint8Array {
  return Buffer.concat([encodeNumber(meta.bytes), Buffer.from(meta.mimeType, 'utf8')])
}

/** What `encodeArtifact` was given. */
export function decodeArtifact(value: Uint8Array): { bytes: number; mimeType: string } {
  const bytes = view(value, NUMBER_BYTES)
  return { bytes: bytes.readUIntBE(0, NUMBER_BYTES), mimeType: bytes.toString('utf8', NUMBER_BYTES) }
}
