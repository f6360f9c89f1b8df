import { closeSync, constants, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { ROOT_NAMES, readBounded } from '../marker.ts'

/** The batch that a database had reached when its mark was written last. */
export interface Reached {
  readonly databaseId: string
  readonly batch: number
}

const MARK = /^(([0-9a-f]{32}) ([0-9]{16})) ([0-9a-f]{8})\n$/
const MARK_BYTES = 32 + 1 + 16 + 1 + 8 + 1

/**
 * A file that is overwritten in place with the number of every batch that is on disk, without a sync: it survives the end of the process and
 * costs microseconds. After a kill it proves that the newest log is whole; after a crash of the system it may be torn or older than the
 * database, and then proves less. Source: D4.
 */
export class ReachedMark {
  readonly #databaseId: string
  #file: number | null

  /** Opens the mark of a root for writing; one that cannot be opened is not written. */
  constructor(root: string, databaseId: string) {
    this.#databaseId = databaseId
    try {
      this.#file = openSync(join(root, ROOT_NAMES.reached), constants.O_RDWR | constants.O_CREAT, 0o600)
    } catch {
      this.#file = null
    }
  }

  /** The batch of this number is on disk. Never throws: a mark that stays behind only proves less. */
  note(batch: number): void {
    if (this.#file === null) return
    try {
      writeSync(this.#file, encodeMark(this.#databaseId, batch), 0, 'latin1')
    } catch {
      this.close()
    }
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file)
    this.#file = null
  }
}

/** What the mark of a root says; null where there is none, or it is torn. */
export async function readReached(root: string): Promise<Reached | null> {
  const text = await readBounded(join(root, ROOT_NAMES.reached), MARK_BYTES)
  const found = text === undefined ? null : MARK.exec(text)
  if (found === null) return null
  const [, facts = '', databaseId = '', batch = '', sum = ''] = found
  return sumOf(facts) === sum ? { databaseId, batch: Number(batch) } : null
}

function encodeMark(databaseId: string, batch: number): string {
  const facts = `${databaseId} ${String(batch).padStart(16, '0')}`
  return `${facts} ${sumOf(facts)}\n`
}

function sumOf(facts: string): string {
  return crc32(facts).toString(16).padStart(8, '0')
}
