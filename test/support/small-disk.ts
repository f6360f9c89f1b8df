import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { testTempDir } from './temp-dir.ts'

/**
 * A file system of its own with this much room, mounted for the running test; or why there cannot be one, which is a reason to skip.
 */
export function mountSmallDisk(sizeMiB: number): { readonly path: string } | { readonly reason: string } {
  if (process.platform !== 'linux') return { reason: 'a small file system is mounted on Linux only' }
  const path = join(testTempDir('disk'), 'mount')
  mkdirSync(path)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeMiB}m`, 'tmpfs', path], { stdio: 'pipe' })
  } catch (error) {
    return { reason: `mounting a tmpfs needs root: ${error instanceof Error ? error.message.split('\n')[0] : error}` }
  }
  onTestFinished(() => {
    execFileSync('umount', ['-l', path], { stdio: 'pipe' })
  })
  return { path }
}
