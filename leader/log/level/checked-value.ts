import { crc32 } from 'node:zlib'
import { FORMAT_KEY } from '../keys.ts'

const CHECK_BYTES = 4

/**
 * A value as it is stored: behind it the CRC-32 of key and value. LevelDB has sums of its own, but as Node binds it, it does not look at
 * them when it reads a table, so a changed bit would come back as if it had been written. The format's number is stored bare: every
 * version has to be able to read it. Source: D1, M1.
 */
export function checkedValue(key: string, value: Uint8Array): Uint8Array {
  if (key === FORMAT_KEY) return value
  const stored = Buffer.allocUnsafe(value.length + CHECK_BYTES)
  stored.set(value)
  stored.writeUInt32LE(sumOf(key, value), value.length)
  return stored
}

/** The value in what is stored under the key; throws an error of the kind `corruption` where it is not what was written. */
export function openValue(key: string, stored: Uint8Array): Uint8Array {
  if (key === FORMAT_KEY) return stored
  const length = stored.length - CHECK_BYTES
  const value = stored.subarray(0, Math.max(0, length))
  const sum = length < 0 ? -1 : new DataView(stored.buffer, stored.byteOffset + length, CHECK_BYTES).getUint32(0, true)
  if (sum === sumOf(key, value)) return value
  throw Object.assign(new Error(`the value of ${JSON.stringify(key)} fails its checksum`), { code: 'LEVEL_CORRUPTION' })
}

function sumOf(key: string, value: Uint8Array): number {
  return crc32(value, crc32(key))
}
