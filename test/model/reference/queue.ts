import type { RefContent, RefEntry, RefSession } from './state.ts'

/** Takes the entries that pass out of the queue and says what became of them. */
export function leave(
  session: RefSession,
  fate: 'delivered' | 'removed',
  passes: (entry: RefEntry) => boolean,
): RefEntry[] {
  const left = session.queue.filter(passes)
  session.queue = session.queue.filter(entry => !left.includes(entry))
  for (const entry of left) session.fates[entry.entryId] = fate
  return left
}

/** Parks entries; true if there was one. */
export function park(session: RefSession, reason: string, passes: (entry: RefEntry) => boolean): boolean {
  const parked = session.queue.filter(entry => entry.state !== 'parked' && passes(entry))
  for (const entry of parked) {
    entry.state = 'parked'
    entry.parkReason = reason
    entry.revision += 1
  }
  return parked.length > 0
}

/** Leased entries back at the head, in their order; true if there was one. */
export function returnLeased(session: RefSession): boolean {
  const leased = session.queue.filter(entry => entry.state === 'in_flight')
  for (const entry of leased) {
    entry.state = 'queued'
    entry.revision += 1
  }
  session.queue = [...leased, ...session.queue.filter(entry => !leased.includes(entry))]
  return leased.length > 0
}

/** What the next hand-off takes: steers, then follow-ups; held and parked ones are passed over. */
export function handOffEntries(session: RefSession): RefEntry[] {
  const ready = session.queue.filter(entry => entry.state === 'queued' && entry.heldBy === undefined)
  return [
    ...ready.filter(entry => entry.placement === 'current_turn'),
    ...ready.filter(entry => entry.placement === 'next_turn'),
  ]
}

/** Several messages as one. */
export function join(contents: readonly RefContent[]): RefContent {
  const text = contents.map(content => content.text).join('\n\n')
  const shown = contents.map(content => content.displayText ?? content.text).join('\n\n')
  return shown === text ? { text } : { text, displayText: shown }
}

/** A message's words without a display text that says the same. */
export function canonical({ text, displayText }: RefContent): RefContent {
  return displayText === undefined || displayText === text ? { text } : { text, displayText }
}

/** An entry as clients see it. */
export function entryView(entry: RefEntry): Readonly<Record<string, unknown>> {
  const { parkReason: _reason, ...rest } = entry
  return structuredClone(rest)
}
