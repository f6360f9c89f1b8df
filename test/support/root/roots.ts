import { readdirSync } from 'node:fs'
import { onTestFinished } from 'vitest'
import { type RootOwner, tryAcquireRootOwner } from '../../../leader/log/root/owner.ts'
import { type RootReader, tryAcquireRootReader } from '../../../leader/log/root/reader.ts'
import type { RootCapability } from '../../../leader/log/root/resolve.ts'

/** The owner of a root that is free; given back when the running test ends. */
export async function own(root: RootCapability): Promise<RootOwner> {
  const owner = await tryAcquireRootOwner(root)
  if (owner === undefined) throw new Error(`the root is owned: ${root.path}`)
  onTestFinished(() => owner.close())
  return owner
}

/** A reader of a root that is free; closed when the running test ends. */
export async function readRoot(root: RootCapability): Promise<RootReader> {
  const reader = await tryAcquireRootReader(root)
  if (reader === undefined) throw new Error(`the root is owned: ${root.path}`)
  onTestFinished(() => reader.close())
  return reader
}

/** The names in a directory, sorted. */
export function listNames(path: string): readonly string[] {
  return readdirSync(path).sort()
}
