import type { TranscriptRow } from '../../../view/transcript/row.ts'
import { type Anchor, anchorAt, positionOf } from './anchor.ts'
import {
  above,
  below,
  compare,
  distance,
  gapBefore,
  heightAt,
  indexOf,
  keyOf,
  lastTop,
  type Position,
  type RowKey,
  type RowSource,
  START,
} from './row-source.ts'

/*
 * What of a transcript is on the screen. No function looks at more rows than are on the screen or passed over, so that nothing depends on how
 * many there are.
 *
 *              scroll up, mark above                     a message, a piece of one, another width
 *   following ──────────────────────▶ anchored to a text ──────────────────────▶ the same text
 *       ▲                                   │
 *       └── scrolled to the newest line ────┘
 */

/** Where a reader is. `anchor` is the first line on the screen, null while the newest line is followed; `marked` what open and copy are about. */
export interface WindowState {
  readonly anchor: Anchor | null
  readonly marked: RowKey | null
  /** The newest row that was there when the reader last followed. */
  readonly seenSeq: number
}

/** What a window is put on: rows, and the lines of the screen for them. */
export interface Ground {
  readonly source: RowSource
  readonly height: number
}

/** Lines `from` to `to` (without it) of the row at `index`, as positions count them. */
export interface Slice {
  readonly index: number
  readonly from: number
  readonly to: number
}

/** News beyond so many are not counted. */
const COUNTED_NEWS = 999

/** A reader who follows. */
export const FOLLOWING: WindowState = { anchor: null, marked: null, seenSeq: 0 }

/** The first line on the screen. */
export function topOf({ anchor }: WindowState, { source, height }: Ground): Position {
  const last = lastTop(source, height)
  if (anchor === null) return last
  const top = positionOf(source, anchor)
  return compare(top, last) > 0 ? last : top
}

/**
 * The state for what is really shown: where an anchor is below the last screen, after something above was folded or the window grew, that
 * screen is what stays. The same state otherwise.
 */
export function settled(state: WindowState, ground: Ground): WindowState {
  if (state.anchor === null) return state
  const top = topOf(state, ground)
  return compare(positionOf(ground.source, state.anchor), top) === 0
    ? state
    : { ...state, anchor: anchorAt(ground.source, top) }
}

/** What is on the screen, from above. */
export function slicesOf(state: WindowState, ground: Ground): Slice[] {
  const { source, height } = ground
  const slices: Slice[] = []
  let { index, offset } = topOf(state, ground)
  for (let left = height; left > 0 && index < source.rows.length; index++) {
    const to = Math.min(heightAt(source, index), offset + left)
    slices.push({ index, from: offset, to })
    left -= to - offset
    offset = 0
  }
  return slices
}

/** Moves the window by lines, up if less than zero. */
export function scrollBy(state: WindowState, ground: Ground, lines: number): WindowState {
  const top = topOf(state, ground)
  return at(state, ground, lines < 0 ? above(ground.source, top, -lines) : below(ground.source, top, lines))
}

/** Moves the window by all but two lines of the screen; the mark comes along if it is left behind. */
export function scrollPage(state: WindowState, ground: Ground, direction: -1 | 1): WindowState {
  const moved = scrollBy(state, ground, direction * Math.max(1, ground.height - 2))
  if (moved.marked === null || markedIndex(moved, ground) !== -1) return moved
  return { ...moved, marked: visibleMark(moved, ground, direction < 0 ? 1 : -1) }
}

/** To the oldest line that is here, with the mark. */
export function toTop(state: WindowState, ground: Ground): WindowState {
  const moved = at(state, ground, START)
  return { ...moved, marked: visibleMark(moved, ground, 1) }
}

/** Puts the row at an index on the screen, its line `line` in the upper third, and marks it. */
export function showRow(state: WindowState, ground: Ground, index: number, line = 0): WindowState {
  const row = ground.source.rows[index]
  if (row === undefined) return state
  const marked = { ...state, marked: keyOf(row) }
  const wanted: Position = { index, offset: gapBefore(ground.source.rows, index) + line }
  const down = distance(ground.source, topOf(state, ground), wanted, ground.height)
  if (down >= 0 && down < ground.height) return marked
  return at(marked, ground, above(ground.source, wanted, Math.floor(ground.height / 3)))
}

/** The same lines, also when more comes: who marks something or opens it wants to look at it. */
export function held(state: WindowState, ground: Ground): WindowState {
  return state.anchor === null
    ? { ...leaving(state, ground), anchor: anchorAt(ground.source, topOf(state, ground)) }
    : state
}

/** Marks the row above or below the one that open and copy are about; of one that is higher than the screen the rest is shown first. */
export function moveMark(state: WindowState, ground: Ground, direction: -1 | 1): WindowState {
  const current = targetIndex(state, ground)
  if (current === -1) return state
  if (hidden(state, ground, current, direction) > 0) return scrollBy(state, ground, direction)
  const next = nextMarkable(ground.source.rows, current, direction)
  if (next === -1) return direction < 0 ? scrollBy(state, ground, -ground.height) : FOLLOWING
  const marked = { ...held(state, ground), marked: keyOf(ground.source.rows[next] as TranscriptRow) }
  const missing = hidden(state, ground, next, direction)
  const most = heightAt(ground.source, next) <= ground.height ? missing : Math.ceil(ground.height / 2)
  return missing === 0 ? marked : scrollBy(marked, ground, direction * Math.min(missing, most))
}

/** The marked row if it is on the screen, else −1. */
export function markedIndex(state: WindowState, ground: Ground): number {
  if (state.marked === null) return -1
  const index = indexOf(ground.source.rows, state.marked)
  return slicesOf(state, ground).some(slice => slice.index === index) && isMarkable(ground.source.rows[index])
    ? index
    : -1
}

/** What open and copy are about: the marked row, else the newest one on the screen; −1 without any. */
export function targetIndex(state: WindowState, ground: Ground): number {
  const marked = markedIndex(state, ground)
  if (marked !== -1) return marked
  const key = visibleMark(state, ground, -1)
  return key === null ? -1 : indexOf(ground.source.rows, key)
}

/** How many rows have come since the reader followed; 0 while following. */
export function newRows({ anchor, seenSeq }: WindowState, { source: { rows } }: Ground): number {
  if (anchor === null) return 0
  let count = 0
  for (let index = rows.length - 1; index >= 0 && count < COUNTED_NEWS; index--) {
    if ((rows[index] as TranscriptRow).seq <= seenSeq) break
    if (isMarkable(rows[index])) count += 1
  }
  return count
}

/** The state with its first line at a position; at the newest line it follows. */
function at(state: WindowState, ground: Ground, top: Position): WindowState {
  if (compare(top, lastTop(ground.source, ground.height)) >= 0) return { ...state, anchor: null }
  return { ...leaving(state, ground), anchor: anchorAt(ground.source, top) }
}

/** The state with what is known of news when following ends. */
function leaving(state: WindowState, { source }: Ground): WindowState {
  return state.anchor === null ? { ...state, seenSeq: source.rows.at(-1)?.lastSeq ?? 0 } : state
}

/** Lines of a row that are beyond the screen in a direction, as far as they matter: at most a few screens. */
function hidden(state: WindowState, ground: Ground, index: number, direction: -1 | 1): number {
  const { source, height } = ground
  const top = topOf(state, ground)
  const most = height * 3
  if (direction < 0) return Math.max(0, distance(source, { index, offset: gapBefore(source.rows, index) }, top, most))
  const end = { index: index + 1, offset: 0 }
  return Math.max(0, distance(source, top, end, most) - height)
}

function isMarkable(row: TranscriptRow | undefined): boolean {
  return row !== undefined && row.kind !== 'turn'
}

function nextMarkable(rows: readonly TranscriptRow[], from: number, direction: -1 | 1): number {
  for (let index = from + direction; index >= 0 && index < rows.length; index += direction) {
    if (isMarkable(rows[index])) return index
  }
  return -1
}

/** The first row on the screen that can be marked, or the last one. */
function visibleMark(state: WindowState, ground: Ground, from: 1 | -1): RowKey | null {
  const slices = slicesOf(state, ground).filter(({ index }) => isMarkable(ground.source.rows[index]))
  const slice = from === 1 ? slices[0] : slices.at(-1)
  return slice === undefined ? null : keyOf(ground.source.rows[slice.index] as TranscriptRow)
}
