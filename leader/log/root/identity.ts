import { type BigIntStats, readFileSync } from 'node:fs'

/**
 * What makes a directory this one and no copy. `inode` and `device` are decimal numbers, `birthTimeNs` decimal nanoseconds, null where the
 * file system keeps none. The device number means something only while `bootId` is the same; null where the system has no boot id.
 * Source: R1, R2.
 */
export interface DirectoryIdentity {
  readonly inode: string
  readonly birthTimeNs: string | null
  readonly device: string
  readonly bootId: string | null
}

/** The identity in a directory's status. */
export function directoryIdentity(stats: BigIntStats): DirectoryIdentity {
  return Object.freeze({
    inode: stats.ino.toString(),
    birthTimeNs: stats.birthtimeNs > 0n ? stats.birthtimeNs.toString() : null,
    device: stats.dev.toString(),
    bootId: currentBootId(),
  })
}

/** True when both name the same directory. What is absent on either side is not compared. Source: R1. */
export function isSameDirectory(a: DirectoryIdentity, b: DirectoryIdentity): boolean {
  if (a.inode !== b.inode) return false
  if (a.birthTimeNs !== null && b.birthTimeNs !== null && a.birthTimeNs !== b.birthTimeNs) return false
  const isSameBoot = a.bootId !== null && a.bootId === b.bootId
  return !isSameBoot || a.device === b.device
}

let bootId: string | null | undefined

function currentBootId(): string | null {
  bootId ??= readBootId()
  return bootId
}

function readBootId(): string | null {
  if (process.platform !== 'linux') return null
  try {
    const text = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return /^[0-9a-f-]{36}$/.test(text) ? text : null
  } catch {
    return null // a sandbox without /proc
  }
}
