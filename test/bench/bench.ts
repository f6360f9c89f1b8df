import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { makeTempDir, removeTempDir } from '../support/temporary.ts'
import type { Report } from './report.ts'

/** What a bench gets: where to report, how long to measure (1 = full length), and directories that are removed in the end. */
export interface BenchContext {
  readonly report: Report
  readonly scale: number
  directory(): string
}

/** A group of measurements. `needs` are benches whose figures it compares with. */
export interface Bench {
  readonly name: string
  readonly needs?: readonly string[]
  run(context: BenchContext): Promise<void>
}

/** Runs with a directory that is removed afterwards, also when it fails. */
export async function inDirectory<T>(run: (path: string) => Promise<T>): Promise<T> {
  const path = makeTempDir('b')
  try {
    return await run(path)
  } finally {
    removeTempDir(path)
  }
}

/** Bytes of all files below a directory. */
export function directoryBytes(path: string): number {
  let bytes = 0
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const inner = join(path, entry.name)
    if (entry.isDirectory()) bytes += directoryBytes(inner)
    else if (entry.isFile()) bytes += statSync(inner).size
  }
  return bytes
}

/** Resident memory of a process. Unit: bytes. */
export function residentBytes(pid: number): number {
  if (process.platform !== 'linux') return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)])) * 1024
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kib) * 1024
}

/** Bytes a process has sent to the storage layer so far; NaN where the system does not count them. */
export function storedBytes(pid: number): number {
  if (process.platform !== 'linux') return Number.NaN
  return Number(/^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1])
}
