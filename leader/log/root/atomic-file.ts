import { randomBytes } from 'node:crypto'
import { link, mkdir, open, rename, stat, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const TEMP_NAME = /^\.headwater-[0-9a-f]{16}\.tmp$/

/** True for the name of a file that was being written when its writer died. */
export function isTempName(name: string): boolean {
  return TEMP_NAME.test(name)
}

/**
 * Puts a file in place whole or not at all, over one that is there: temporary file, fsync, rename, fsync of the directory.
 * Durable when the promise resolves. Source: R1.
 */
export async function replaceFile(path: string, text: string, mode: number): Promise<void> {
  await withTempFile(path, text, mode, temp => rename(temp, path))
  await syncDirectory(dirname(path))
}

/**
 * Like `replaceFile`, but only if there is none: of several writers at once exactly one gives true, and every other one finds the
 * winner's whole file.
 */
export async function createFile(path: string, text: string, mode: number): Promise<boolean> {
  const isFirst = await withTempFile(path, text, mode, temp => linkOrRename(temp, path))
  await syncDirectory(dirname(path))
  return isFirst
}

/**
 * Makes a directory and what is missing above it, 0700; gives the topmost one that it made. Node's own recursive way never ends where a
 * parent exists and nothing can be made in it (/proc).
 */
export async function makeDirectories(path: string): Promise<string | undefined> {
  try {
    await mkdir(path, { mode: 0o700 })
    return path
  } catch (error) {
    if (errnoOf(error) === 'EEXIST' && (await stat(path)).isDirectory()) return undefined
    if (errnoOf(error) !== 'ENOENT' || dirname(path) === path) throw error
  }
  const first = await makeDirectories(dirname(path))
  try {
    await mkdir(path, { mode: 0o700 })
  } catch (error) {
    // another process may make the same directories
    if (errnoOf(error) !== 'EEXIST') throw error
  }
  return first ?? path
}

/** Makes the names in a directory durable; does nothing where the system cannot (Windows). */
export async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

async function withTempFile<T>(
  path: string,
  text: string,
  mode: number,
  publish: (temp: string) => Promise<T>,
): Promise<T> {
  const temp = join(dirname(path), `.headwater-${randomBytes(8).toString('hex')}.tmp`)
  const file = await open(temp, 'wx', mode)
  try {
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    return await publish(temp)
  } finally {
    await unlink(temp).catch(() => {})
  }
}

/** A link fails where the name exists, which a rename does not. File systems without links have no concurrent creators to speak of. */
async function linkOrRename(temp: string, path: string): Promise<boolean> {
  try {
    await link(temp, path)
    return true
  } catch (error) {
    const code = errnoOf(error)
    // ENOENT: an owner that exists by now has swept our temporary file, so the file we wanted to create is there
    if (code === 'EEXIST' || code === 'ENOENT') return false
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'EOPNOTSUPP' && code !== 'ENOSYS') throw error
    await rename(temp, path)
    return true
  }
}

/** The system's name of what went wrong (`ENOENT`), if the error has one. */
export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
