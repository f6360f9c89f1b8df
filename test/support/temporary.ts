import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A new empty directory under the system's temporary one, as a real path. The name is short because socket paths are. */
export function makeTempDir(label = 't'): string {
  return realpathSync(mkdtempSync(join(tmpdir(), `hw-${label}-`)))
}

/** Removes a directory of `makeTempDir` with everything in it. */
export function removeTempDir(path: string): void {
  rmSync(path, { recursive: true, force: true, maxRetries: 3, retryDelay: 50 })
}
