import type { RootCapability } from './resolve.ts'

/** Why this process holds a root's lock: for a tenure, or for the moment in which a reader's view is made. */
export type ClaimPurpose = 'owner' | 'view'

interface Claims {
  readonly roots: Map<string, ClaimPurpose>
  readonly views: Set<string>
}

/**
 * What this process holds, looked at before any lock file is touched: a second open inside the owner's process would drop the lock. The
 * table hangs on the global object so that two copies of the package in one process see the same one. Source: R3, R4, H7.
 */
const KEY = Symbol.for('headwater.root-claims.1')

function claims(): Claims {
  const scope = globalThis as { [KEY]?: Claims }
  scope[KEY] ??= { roots: new Map(), views: new Set() }
  return scope[KEY]
}

/** Claims a root for this process; what holds it already, if anything does. The path and the directory count, each by itself. */
export function claimRoot(capability: RootCapability, purpose: ClaimPurpose): ClaimPurpose | undefined {
  const { roots } = claims()
  const keys = keysOf(capability)
  for (const key of keys) {
    const held = roots.get(key)
    if (held !== undefined) return held
  }
  for (const key of keys) roots.set(key, purpose)
  return undefined
}

/** Gives back what `claimRoot` gave. */
export function unclaimRoot(capability: RootCapability): void {
  for (const key of keysOf(capability)) claims().roots.delete(key)
}

/** Views of readers of this process that are open. */
export function openViews(): Set<string> {
  return claims().views
}

function keysOf({ path, identity }: RootCapability): readonly string[] {
  return [`path:${path}`, `inode:${identity.inode}:${identity.birthTimeNs}`]
}
