import { closeSync, fstatSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { LIMITS } from '../../schema/limits.ts'

/** Size and number of the files of one log. */
export interface RotationLimits {
  readonly fileBytes: number
  readonly files: number
}

const DEFAULT_ROTATION: RotationLimits = { fileBytes: LIMITS.logFileBytes, files: LIMITS.logFiles }

/**
 * A log file that is moved to `<path>.1` (… `.4`) when it is full. Lines are written at once, so that a crash loses none; a line
 * that cannot be written (disk full) is counted and dropped: logging never stops the leader.
 */
export class RotatingFile {
  readonly #path: string
  readonly #limits: RotationLimits
  #descriptor: number | undefined
  #writtenBytes = 0
  #droppedLines = 0

  constructor(path: string, limits: RotationLimits = DEFAULT_ROTATION) {
    this.#path = path
    this.#limits = limits
  }

  /** Lines lost because the file could not be written. */
  get droppedLines(): number {
    return this.#droppedLines
  }

  /** Appends one line. */
  write(line: string): void {
    try {
      const bytes = Buffer.from(line)
      if (this.#descriptor !== undefined && this.#writtenBytes + bytes.length > this.#limits.fileBytes) this.#rotate()
      this.#descriptor ??= this.#open()
      writeSync(this.#descriptor, bytes)
      this.#writtenBytes += bytes.length
    } catch {
      this.#droppedLines += 1
    }
  }

  close(): void {
    if (this.#descriptor === undefined) return
    closeSync(this.#descriptor)
    this.#descriptor = undefined
  }

  #open(): number {
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 })
    const descriptor = openSync(this.#path, 'a', 0o600)
    this.#writtenBytes = fstatSync(descriptor).size
    return descriptor
  }

  #rotate(): void {
    this.close()
    rmSync(this.#numbered(this.#limits.files - 1), { force: true })
    for (let number = this.#limits.files - 2; number >= 0; number--) {
      try {
        renameSync(this.#numbered(number), this.#numbered(number + 1))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      }
    }
  }

  #numbered(number: number): string {
    return number === 0 ? this.#path : `${this.#path}.${number}`
  }
}
