/** The parts of the session screen that take keys. */
export type SessionFocus = 'composer' | 'transcript' | 'queue' | 'pending'

const ORDER: readonly SessionFocus[] = ['composer', 'pending', 'queue', 'transcript']

/** What else than composer and transcript is there to be looked at. */
export interface Present {
  readonly hasPending: boolean
  readonly hasQueue: boolean
}

/** The part after (or before) the one that has the keys, of those that are there. Source: experience 7.1. */
export function nextFocus(focus: SessionFocus, present: Present, step: 1 | -1): SessionFocus {
  const ring = ORDER.filter(part => isPresent(part, present))
  const at = Math.max(0, ring.indexOf(focus))
  return ring[(at + step + ring.length) % ring.length] as SessionFocus
}

/** The part that really has the keys: one that went away gives them to the composer. */
export function effectiveFocus(focus: SessionFocus, present: Present): SessionFocus {
  return isPresent(focus, present) ? focus : 'composer'
}

function isPresent(part: SessionFocus, { hasPending, hasQueue }: Present): boolean {
  return part === 'pending' ? hasPending : part === 'queue' ? hasQueue : true
}
