import { randomFillSync } from 'node:crypto'
import { type FileHandle, open, rename, rm, stat, statfs } from 'node:fs/promises'
import { LIMITS } from '../../../schema/limits.ts'
import { storageErrorKind } from './storage-error.ts'

const PIECE_BYTES = 1024 * 1024

/** How a try at writing went. */
export type ProbeResult = 'ok' | 'full' | 'failed'

/**
 * The room on the disk a database lies on: whether there is some, and a ballast file that holds some back for the moment when there
 * is none. The files lie beside the database, never in it. Source: R4, E8.
 */
export class DiskRoom {
  readonly #probePath: string
  readonly #ballastPath: string | undefined

  constructor(databasePath: string, ballastPath: string | undefined) {
    this.#probePath = `${databasePath}.probe`
    this.#ballastPath = ballastPath
  }

  /** Whether this many bytes can be written and synced now. */
  async probe(bytes: number): Promise<ProbeResult> {
    try {
      await writeBlocks(this.#probePath, bytes)
      return 'ok'
    } catch (error) {
      return storageErrorKind(error) === 'full' ? 'full' : 'failed'
    } finally {
      await rm(this.#probePath, { force: true }).catch(() => {})
    }
  }

  /** Whether the file system says it has this much room for us. A quota it does not know of shows in `probe` only. */
  async hasRoom(bytes: number): Promise<boolean> {
    try {
      const { bavail, bsize } = await statfs(this.#probePath.slice(0, -'.probe'.length))
      return bavail * bsize >= bytes
    } catch {
      return false
    }
  }

  /** Gives the ballast's room back to the disk. */
  async freeBallast(): Promise<void> {
    if (this.#ballastPath === undefined) return
    await rm(this.#ballastPath, { force: true }).catch(() => {})
    await rm(`${this.#ballastPath}.new`, { force: true }).catch(() => {})
  }

  /** Bytes that the ballast still lacks. */
  async missingBallastBytes(): Promise<number> {
    if (this.#ballastPath === undefined) return 0
    return (await hasBlocks(this.#ballastPath, LIMITS.ballastBytes)) ? 0 : LIMITS.ballastBytes
  }

  /** Makes the ballast, with real blocks, if it is not there; false where there is no room for it. */
  async restoreBallast(): Promise<boolean> {
    const path = this.#ballastPath
    if (path === undefined || (await hasBlocks(path, LIMITS.ballastBytes))) return true
    try {
      await writeBlocks(`${path}.new`, LIMITS.ballastBytes)
      await rename(`${path}.new`, path)
      return true
    } catch {
      await rm(`${path}.new`, { force: true }).catch(() => {})
      return false
    }
  }
}

/** Random bytes, because a file system may keep zeros without any blocks. */
async function writeBlocks(path: string, bytes: number): Promise<void> {
  let file: FileHandle | undefined
  try {
    file = await open(path, 'w', 0o600)
    const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, bytes))
    for (let rest = bytes; rest > 0; rest -= piece.byteLength) {
      randomFillSync(piece)
      await file.writeFile(rest < piece.byteLength ? piece.subarray(0, rest) : piece)
    }
    await file.sync()
  } finally {
    await file?.close()
  }
}

async function hasBlocks(path: string, bytes: number): Promise<boolean> {
  try {
    const { size, blocks } = await stat(path)
    return size === bytes && (blocks === 0 ? process.platform === 'win32' : blocks * 512 >= bytes)
  } catch {
    return false
  }
}
