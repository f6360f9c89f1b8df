/** Names of things that live outside of a session's own records, found anywhere in what it stored. Source: S5. */
export interface NamedThings {
  readonly artifacts: Set<string>
  readonly interactions: Set<string>
}

const DIGEST = /^sha256:[0-9a-f]{64}$/

/** Collects what a value names. It is walked as it is, so that records of any build, and checkpoints, are read alike. */
export function collectNames(value: unknown, into: NamedThings): void {
  if (Array.isArray(value)) {
    for (const item of value) collectNames(item, into)
    return
  }
  if (value === null || typeof value !== 'object') return
  for (const [key, member] of Object.entries(value)) {
    if (typeof member !== 'string') collectNames(member, into)
    else if (key === 'artifact' && DIGEST.test(member)) into.artifacts.add(member)
    else if (key === 'interactionId') into.interactions.add(member)
  }
}
