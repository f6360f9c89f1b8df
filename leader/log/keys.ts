import { LIMITS } from '../../schema/limits.ts'
import { ROW_KINDS, type RowKind } from './store.ts'

/*
 * One flat key space, sorted by bytes; a prefix letter for each kind of record. A flat space costs a third of what sublevels cost
 * per write. The mark '!' sorts before every character of an id, so a session's keys never mix with those of a longer id.
 *
 *   h <session>                        head
 *   l <session> ! <revision>           ledger record
 *   d <session> !                      document snapshot
 *   d <session> ! <number>             document update
 *   k <session>                        revision of a checkpoint below which there still are records
 *   r <session> ! <operation> ! <id>   receipt
 *   x <kind> <id>                      derived row of scope root
 *   x <kind> <session> ! <id>          derived row of scope session
 *   a <hash>                           artifact
 *   b <hash> ! <index>                 piece of an artifact
 *   m <key>                            root record
 *   z <name>                           the store's own
 */
const NUMBER_DIGITS = 12
const NUMBER_MAX = 999_999_999_999
const PART = /^[\x22-\x7e]{1,512}$/
const ROOT_ID = /^[\x21-\x7e]{1,512}$/

const ROW_PREFIX: { readonly [K in RowKind]: string } = {
  session: 'xs',
  activity: 'xa',
  active: 'xu',
  pending: 'xp',
  interaction: 'xi',
  admission: 'xd',
  turn: 'xt',
  segment: 'xg',
  entry: 'xe',
  proposal: 'xo',
  execution: 'xx',
  child: 'xc',
  fork: 'xf',
  tombstone: 'xz',
  artifact_use: 'xr',
}

/** Keys greater than or equal to `gte` and less than `lt`. */
export interface KeyRange {
  readonly gte: string
  readonly lt: string
}

/** Where the store keeps the version of its format; its absence in an existing database is damage. Source: R7. */
export const FORMAT_KEY = 'zformat'

/** Where the store keeps the number of the newest batch. Source: E7. */
export const BATCH_KEY = 'zbatch'

/** Where the store keeps the random id of its database. Source: D4. */
export const DATABASE_ID_KEY = 'zid'

/** Where the store keeps the number of the first batch that is noted in the ring. Source: D4. */
export const RING_START_KEY = 'zstart'

const RING_DIGITS = 5

/** Where a batch notes its number, in the place of the one that came `LIMITS.batchRing` before it. Source: D4. */
export function ringKey(batch: number): string {
  return `zr${String(batch % LIMITS.batchRing).padStart(RING_DIGITS, '0')}`
}

/** Keys of all notes in the ring. */
export const RING_RANGE: KeyRange = { gte: 'zr', lt: 'zs' }

/** Throws where a part of a key would break the order of keys: empty, longer than 512, not printable ASCII, or with '!' in it. */
export function assertKeyPart(part: string): void {
  if (!PART.test(part)) throw new RangeError(`not a part of a key: ${JSON.stringify(part.slice(0, 64))}`)
}

function digits(value: number): string {
  if (!Number.isInteger(value) || value < 0 || value > NUMBER_MAX) throw new RangeError(`not a position: ${value}`)
  return String(value).padStart(NUMBER_DIGITS, '0')
}

/** The least string greater than every string that starts with `prefix`. */
function prefixEnd(prefix: string): string {
  const last = prefix.length - 1
  return prefix.slice(0, last) + String.fromCharCode(prefix.charCodeAt(last) + 1)
}

/** The number at the end of a key of a ledger record, a document update or an artifact's piece. */
export function numberOf(key: string): number {
  return Number(key.slice(-NUMBER_DIGITS))
}

/** Key of a session's head. */
export function headKey(session: string): string {
  return `h${session}`
}

/** Keys of all heads after the one of `cursor`. */
export function headRange(cursor: string | undefined): KeyRange {
  return { gte: cursor === undefined ? 'h' : `h${cursor}\0`, lt: 'i' }
}

/** The session of a head's key. */
export function sessionOfHead(key: string): string {
  return key.slice(1)
}

/** Key of a ledger record. */
export function ledgerKey(session: string, revision: number): string {
  return `l${session}!${digits(revision)}`
}

/** Keys of a session's ledger records after `after`. */
export function ledgerRange(session: string, after: number): KeyRange {
  return { gte: `l${session}!${digits(after + 1)}`, lt: `l${session}"` }
}

/** Key of what is still to be deleted of a session's ledger. */
export function trimKey(session: string): string {
  return `k${session}`
}

/** Key of a session's document snapshot. */
export function snapshotKey(session: string): string {
  return `d${session}!`
}

/** Key of a document update. */
export function updateKey(session: string, number: number): string {
  return `d${session}!${digits(number)}`
}

/** Keys of a session's snapshot and, after it, of its updates in order. */
export function documentRange(session: string): KeyRange {
  return { gte: `d${session}!`, lt: `d${session}"` }
}

/** Keys of a session's updates through `through`. */
export function updateRange(session: string, through: number): KeyRange {
  return { gte: updateKey(session, 0), lt: updateKey(session, through + 1) }
}

/** Key of a command's receipt. */
export function receiptKey(session: string, operation: string, id: string): string {
  return `r${session}!${operation}!${id}`
}

/** Keys of a session's receipts. */
export function receiptRange(session: string): KeyRange {
  return { gte: `r${session}!`, lt: `r${session}"` }
}

/** The operation and the id in a receipt's key. */
export function receiptOfKey(key: string): { readonly operation: string; readonly id: string } {
  const [, operation = '', id = ''] = key.split('!')
  return { operation, id }
}

/** All ranges that hold nothing but records of one session; its rows of scope root and its head lie elsewhere. */
export function sessionRanges(session: string): readonly KeyRange[] {
  const kinds = (Object.keys(ROW_KINDS) as RowKind[]).filter(kind => ROW_KINDS[kind] === 'session')
  const rows = kinds.map(kind => rowRange(rowPrefix(kind, session), undefined, false))
  const trim = { gte: trimKey(session), lt: `${trimKey(session)}\0` }
  return [ledgerRange(session, 0), trim, documentRange(session), receiptRange(session), ...rows]
}

/** The parts of a database, by the letter their keys begin with; what its disk space is counted by. Source: L6. */
export const DATABASE_PARTS = {
  ledger: { gte: 'l', lt: 'm' },
  document: { gte: 'd', lt: 'e' },
  receipts: { gte: 'r', lt: 's' },
  rows: { gte: 'x', lt: 'y' },
  artifacts: { gte: 'a', lt: 'c' },
} as const satisfies Readonly<Record<string, KeyRange>>

/** Key of a derived row. */
export function rowKey(kind: RowKind, session: string, id: string): string {
  if (!ROOT_ID.test(id)) throw new RangeError(`not an id of a row: ${JSON.stringify(id.slice(0, 64))}`)
  return rowPrefix(kind, session) + id
}

/** What all keys of a kind's rows start with; of one session's rows, where the kind has that scope. */
export function rowPrefix(kind: RowKind, session: string): string {
  return ROW_KINDS[kind] === 'root' ? ROW_PREFIX[kind] : `${ROW_PREFIX[kind]}${session}!`
}

/** Keys of rows, only those after `after`; before it, when reversed. */
export function rowRange(prefix: string, after: string | undefined, reverse: boolean): KeyRange {
  const all = { gte: prefix, lt: prefixEnd(prefix) }
  if (after === undefined) return all
  return reverse ? { gte: prefix, lt: prefix + after } : { gte: `${prefix}${after}\0`, lt: all.lt }
}

/** Key of an artifact. */
export function artifactKey(hash: string): string {
  return `a${hash}`
}

/** Key of a piece of an artifact. */
export function pieceKey(hash: string, index: number): string {
  return `b${hash}!${digits(index)}`
}

/** Key of a root record. */
export function rootRecordKey(key: string): string {
  return `m${key}`
}

/** Keys of the rows of scope root, kind by kind, and of the pieces of these artifacts; null: of all. */
export function sharedRanges(artifacts: readonly string[] | null): readonly KeyRange[] {
  const kinds = (Object.keys(ROW_KINDS) as RowKind[]).filter(kind => ROW_KINDS[kind] === 'root')
  const pieces = artifacts?.map(pieceRange) ?? [DATABASE_PARTS.artifacts]
  return [...kinds.map(kind => rowRange(ROW_PREFIX[kind], undefined, false)), ...pieces]
}

/** Two keys that no record has, at both ends of a range. */
export function endsOf({ lt }: KeyRange): readonly [string, string] {
  const last = lt.length - 1
  const prefix = lt.slice(0, last) + String.fromCharCode(lt.charCodeAt(last) - 1)
  return [`${prefix} `, `${prefix}~`]
}

/** Keys of all pieces of an artifact. */
export function pieceRange(hash: string): KeyRange {
  return { gte: `b${hash}!`, lt: `b${hash}"` }
}
