import { randomUUID } from 'node:crypto'
import { chmod, mkdir, open, opendir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** A file in a folder of files that are only for their user. */
export interface PrivateFile {
  readonly name: string
  readonly path: string
  readonly bytes: number
  readonly changedAt: number
}

/** A folder that only its user can look into, made if need be. */
export async function makePrivateFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await chmod(folder, 0o700)
}

/** Writes a whole file for its user alone, so that it is there with all its content or as it was before. */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.${randomUUID()}.tmp`
  try {
    const file = await open(temporary, 'wx', 0o600)
    try {
      await file.writeFile(text)
    } finally {
      await file.close()
    }
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {})
    throw error
  }
}

/** The text of a file, or null for one that is not there, too large or not to be read. */
export async function readPrivateFile(path: string, maxBytes: number): Promise<string | null> {
  try {
    const file = await open(path, 'r')
    try {
      const { size } = await file.stat()
      return size > maxBytes ? null : await file.readFile('utf8')
    } finally {
      await file.close()
    }
  } catch {
    return null
  }
}

/** The files of a folder whose names match, at most so many; none where there is no folder. */
export async function privateFiles(folder: string, name: RegExp, maxFiles: number): Promise<readonly PrivateFile[]> {
  const found: PrivateFile[] = []
  try {
    for await (const entry of await opendir(folder)) {
      if (!name.test(entry.name)) continue
      const path = join(folder, entry.name)
      const stats = await stat(path).catch(() => null)
      if (stats !== null) found.push({ name: entry.name, path, bytes: stats.size, changedAt: stats.mtimeMs })
      if (found.length >= maxFiles) break
    }
  } catch {
    // nothing was ever kept
  }
  return found
}
