import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { digestOf } from './template.ts'

/** The name of the database's folder in a root. */
export const DATABASE = 'database'

/** The files of a folder that a name or an ending stands for, oldest name first. */
export function filesLike(directory: string, pattern: RegExp): readonly string[] {
  if (!existsSync(directory)) return []
  const found = readdirSync(directory).filter(name => pattern.test(name))
  return found.sort().map(name => join(directory, name))
}

/** What was done to a root: the damaged files that are still there, by the digest of what is in them. */
export interface Damage {
  /** False where there was nothing to damage. */
  readonly isDone: boolean
  /** Digests of bytes that nobody may write over. */
  readonly kept: ReadonlySet<string>
}

const NOTHING: Damage = { isDone: false, kept: new Set() }

/** Deletes files or folders. */
export function remove(paths: readonly string[]): Damage {
  for (const path of paths) rmSync(path, { recursive: true, force: true })
  return { ...NOTHING, isDone: paths.length > 0 }
}

/** Cuts files to a part of their length. */
export function truncate(paths: readonly string[], part: number): Damage {
  for (const path of paths) truncateSync(path, Math.floor(statSync(path).size * part))
  return noted(paths)
}

/** Turns one bit in each file, at a part of its length. */
export function flip(paths: readonly string[], part: number): Damage {
  for (const path of paths) {
    const bytes = readFileSync(path)
    const at = Math.min(bytes.length - 1, Math.floor(bytes.length * part))
    if (at < 0) continue
    bytes[at] = (bytes[at] as number) ^ 0x10
    writeFileSync(path, bytes)
  }
  return noted(paths)
}

/** Puts another folder in the place of the database; none: an empty one. */
export function exchange(root: string, other: string | null): Damage {
  const path = join(root, DATABASE)
  rmSync(path, { recursive: true, force: true })
  if (other === null) mkdirSync(path, { mode: 0o700 })
  else cpSync(other, path, { recursive: true })
  return { isDone: true, kept: new Set() }
}

/** Empty files say nothing that could be lost. */
function noted(paths: readonly string[]): Damage {
  const kept = paths.filter(path => statSync(path).size > 0).map(path => digestOf(readFileSync(path)))
  return { isDone: paths.length > 0, kept: new Set(kept) }
}

/** Digests of all files below a directory. */
export function digestsBelow(directory: string): ReadonlySet<string> {
  const digests = new Set<string>()
  const walk = (path: string): void => {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const below = join(path, entry.name)
      if (entry.isDirectory()) walk(below)
      else if (entry.isFile()) digests.add(digestOf(readFileSync(below)))
    }
  }
  walk(directory)
  return digests
}
