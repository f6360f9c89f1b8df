import { closeSync, constants, existsSync, openSync, readdirSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { ROOT_NAMES, readBounded } from '../marker.ts'

/** How far a database was when its mark was written last: its newest batch, and the log that this is in. Unit: bytes. */
export interface Reached {
  readonly databaseId: string
  readonly batch: number
  readonly log: { readonly number: number; readonly bytes: number }
}

const MARK = /^(([0-9a-f]{32}) ([0-9]{16}) ([0-9]{16}) ([0-9]{16})) ([0-9a-f]{8})\n$/
const MARK_BYTES = 32 + 3 * 17 + 1 + 8 + 1
const LOG_NAME = /^([0-9]{1,15})\.log$/

/**
 * A file that is overwritten in place with the number of every batch that is on disk, without a sync: it survives the end of the process and
 * costs microseconds. After a kill it proves that the newest log is whole; after a crash of the system it may be torn or older than the
 * database, and then proves less. Source: D4.
 */
export class ReachedMark {
  readonly #databasePath: string
  readonly #databaseId: string
  #file: number | null
  #log: { readonly name: string; readonly number: number } | null = null

  /** Opens the mark of a root for writing; one that cannot be opened is not written. */
  constructor(root: string, databaseId: string) {
    this.#databasePath = join(root, ROOT_NAMES.database)
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
      writeSync(this.#file, encodeMark({ databaseId: this.#databaseId, batch, log: this.#logNow() }), 0, 'latin1')
    } catch {
      this.close()
    }
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file)
    this.#file = null
  }

  /** A log that LevelDB has written into tables is gone: then a newer one is there. */
  #logNow(): Reached['log'] {
    const known = this.#log === null ? undefined : this.#sizeOf(this.#log.name)
    if (this.#log !== null && known !== undefined) return { number: this.#log.number, bytes: known }
    const number = newestLog(readdirSync(this.#databasePath))
    this.#log = number === null ? null : { number: number.number, name: number.name }
    if (this.#log === null) return { number: 0, bytes: 0 }
    return { number: this.#log.number, bytes: this.#sizeOf(this.#log.name) ?? 0 }
  }

  #sizeOf(name: string): number | undefined {
    return statSync(join(this.#databasePath, name), { throwIfNoEntry: false })?.size
  }
}

/** What the mark of a root says; null where there is none, or it is torn. */
export async function readReached(root: string): Promise<Reached | null> {
  const text = await readBounded(join(root, ROOT_NAMES.reached), MARK_BYTES)
  const found = text === undefined ? null : MARK.exec(text)
  if (found === null) return null
  const [, facts = '', databaseId = '', batch, number, bytes, sum] = found
  if (sumOf(facts) !== sum) return null
  return { databaseId, batch: Number(batch), log: { number: Number(number), bytes: Number(bytes) } }
}

/**
 * True where the log that the mark names is shorter than it was, or gone without a newer one. A database that is not there has lost more than a
 * log. It must not be open.
 */
export function hasLostLog(root: string, { log }: Reached): boolean {
  const directory = join(root, ROOT_NAMES.database)
  if (!existsSync(directory)) return false
  const newest = newestLog(readdirSync(directory))
  if (newest === null || newest.number < log.number) return log.number > 0
  const name = newest.number === log.number ? newest.name : undefined
  return name !== undefined && statSync(join(directory, name)).size < log.bytes
}

function newestLog(names: readonly string[]): { readonly name: string; readonly number: number } | null {
  let newest: { readonly name: string; readonly number: number } | null = null
  for (const name of names) {
    const number = Number(LOG_NAME.exec(name)?.[1] ?? -1)
    if (number > (newest?.number ?? -1)) newest = { name, number }
  }
  return newest
}

function encodeMark({ databaseId, batch, log }: Reached): string {
  const facts = [databaseId, ...[batch, log.number, log.bytes].map(value => String(value).padStart(16, '0'))].join(' ')
  return `${facts} ${sumOf(facts)}\n`
}

function sumOf(facts: string): string {
  return crc32(facts).toString(16).padStart(8, '0')
}
