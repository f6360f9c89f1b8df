const IN_LINEAGE = /^([0-9a-f]{8})\./

/**
 * The history of the root that a document's generation belongs to; '' for the first one. Two documents of one session that belong to
 * different ones may not be continuations of each other. Source: V6, V7.
 */
export function lineageOf(generation: string): string {
  return IN_LINEAGE.exec(generation)?.[1] ?? ''
}
