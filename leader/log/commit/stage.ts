import { ledgerKey, receiptKey, rowKey, updateKey } from '../keys.ts'
import type { AppendItem, SessionHead } from '../store.ts'
import type { Op } from '../table.ts'

/** What a write does to one session. `expected` is null where any head will do; `next` is null where the head stays. */
export interface Part {
  readonly session: string
  readonly fence: number
  readonly expected: SessionHead | null
  readonly next: SessionHead | null
}

/**
 * What is written whole or not at all. Keys of `ops` occur once in a batch; those of `rows` may come again, and only the last
 * write to each is kept. `bytes` and `transitions` count against the limits of a batch.
 */
export interface Write {
  readonly parts: readonly Part[]
  readonly ops: readonly Op[]
  readonly rows: readonly Op[]
  readonly bytes: number
  readonly transitions: number
}

/** Bytes of operations in a batch: a bound, not to the byte. */
export function bytesOf(ops: readonly Op[]): number {
  let bytes = 0
  for (const op of ops) bytes += op.key.length + (op.value === null ? 0 : op.value.byteLength)
  return bytes
}

/**
 * The operations of items that are atomic together. A gap in revisions or numbers is a broken invariant of the caller and throws,
 * because a stored gap would read as damage for ever. Source: A3, D1.
 */
export function stage(items: readonly AppendItem[]): Write {
  const ops: Op[] = []
  const rows: Op[] = []
  const parts: Part[] = []
  let transitions = 0
  for (const item of items) {
    parts.push(stageItem(item, ops, rows))
    transitions += item.transitions.length
  }
  return { parts, ops, rows, bytes: bytesOf(ops) + bytesOf(rows), transitions }
}

function stageItem(item: AppendItem, ops: Op[], rows: Op[]): Part {
  const { session, fence, expectedHead: expected } = item
  let { revision, update: number } = expected
  for (const { record, update, receipt, rows: writes } of item.transitions) {
    if (record !== undefined) {
      assertNext('revision', record.revision, ++revision)
      ops.push({ key: ledgerKey(session, revision), value: record.bytes })
    }
    if (update !== undefined) {
      assertNext('update', update.number, ++number)
      ops.push({ key: updateKey(session, number), value: update.bytes })
    }
    if (receipt !== undefined) {
      ops.push({ key: receiptKey(session, receipt.operation, receipt.id), value: receipt.body })
    }
    if (writes !== undefined) {
      for (const write of writes) rows.push({ key: rowKey(write.kind, session, write.id), value: write.value })
    }
  }
  const isMoved = revision !== expected.revision || number !== expected.update
  return { session, fence, expected, next: isMoved ? { revision, update: number } : null }
}

function assertNext(what: string, given: number, wanted: number): void {
  if (given !== wanted) throw new RangeError(`${what} ${given} does not follow on from the head: expected ${wanted}`)
}
