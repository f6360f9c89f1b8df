import { type FSWatcher, watch } from 'node:fs'
import { basename, dirname } from 'node:path'
import { LIMITS } from '../../../schema/limits.ts'

/** Notices changes of a file until closed. */
export interface FileWatch {
  close(): void
}

/**
 * Calls `look` at once and after the file has changed, also when it is replaced, removed or made; many changes in a row are one, and two
 * looks never overlap. `isCurrent` is false once the watch is closed. Its folder is watched, or the nearest that exists above it. Where the system
 * cannot watch, the first look is all. `look` must not throw.
 */
export function watchFile(path: string, look: (isCurrent: () => boolean) => Promise<void>): FileWatch {
  const watching = new Watching(path, look)
  watching.look()
  return watching
}

/** How far above the file a folder is looked for. */
const HIGHEST = 8

class Watching implements FileWatch {
  readonly #path: string
  readonly #look: (isCurrent: () => boolean) => Promise<void>
  #watcher: FSWatcher | undefined
  #folder: string | undefined
  #timer: NodeJS.Timeout | undefined
  #isLooking = false
  #isStale = false
  #isClosed = false
  #mustRewatch = false

  constructor(path: string, look: (isCurrent: () => boolean) => Promise<void>) {
    this.#path = path
    this.#look = look
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#watcher?.close()
  }

  look(): void {
    if (this.#isClosed) return
    if (this.#isLooking) {
      this.#isStale = true
      return
    }
    this.#isLooking = true
    // Watched first: a change between the look and the watch would be missed.
    this.#watchNearest()
    void this.#look(() => !this.#isClosed).finally(() => {
      this.#isLooking = false
      if (!this.#isStale) return
      this.#isStale = false
      this.look()
    })
  }

  #watchNearest(): void {
    let folder = dirname(this.#path)
    for (let up = 0; up < HIGHEST; up++) {
      if (folder === this.#folder && this.#watcher !== undefined) return
      if (this.#watchFolder(folder)) return
      folder = dirname(folder)
    }
  }

  #watchFolder(folder: string): boolean {
    let watcher: FSWatcher
    try {
      watcher = watch(folder, { persistent: false }, (_event, name) => this.#changed(folder, name))
    } catch (error) {
      return (error as NodeJS.ErrnoException).code !== 'ENOENT'
    }
    this.#drop()
    this.#watcher = watcher
    this.#folder = folder
    watcher.on('error', () => this.#drop())
    return true
  }

  #drop(): void {
    this.#watcher?.close()
    this.#watcher = undefined
    this.#folder = undefined
  }

  #changed(folder: string, name: string | null): void {
    const isFolder = folder !== dirname(this.#path) || name === basename(folder)
    // A folder that was removed and made again is another one, so it has to be watched anew.
    if (isFolder) this.#mustRewatch = true
    if (!isFolder && name !== null && name !== basename(this.#path)) return
    this.#timer ??= setTimeout(() => this.#settled(), LIMITS.settingsSettleMs).unref()
  }

  #settled(): void {
    this.#timer = undefined
    if (this.#mustRewatch) this.#drop()
    this.#mustRewatch = false
    this.look()
  }
}
