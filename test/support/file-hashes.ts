import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'

/** SHA-256 of every file below a directory, by its path in it. */
export function hashesOf(directory: string): Readonly<Record<string, string>> {
  const hashes: Record<string, string> = {}
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    const path = join(directory, name)
    if (!statSync(path).isFile()) continue
    hashes[relative(directory, path)] = createHash('sha256').update(readFileSync(path)).digest('hex')
  }
  return hashes
}
