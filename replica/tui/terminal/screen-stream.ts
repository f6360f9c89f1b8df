import { Writable } from 'node:stream'
import { LIMITS } from '../../../schema/limits.ts'

/** What Ink moves the cursor by and erases with before a frame; colours are none of it. */
const ERASING = /^(?:\u001b\[[?\d;]*[A-Za-ln-z])+/

/** All that a row may hold besides text: colours and links. Whatever else is a control character goes. */
const ROW_CONTROLS = /(\u001b\[[\d;:]*m|\u001b\]8;[^\u0000-\u001f\u007f-\u009f]*\u0007)|[\u0000-\u001f\u007f-\u009f]/g

const CSI = '\u001b['
const BEGIN = `${CSI}?2026h${CSI}m`
const END = `${CSI}?2026l`
const FRAME_MS = 1_000 / LIMITS.terminalFramesPerSecond
/** How long after a resize the frame for the new size is waited for. */
const RESIZE_MS = 60
/** How long after a frame the answer to a key is drawn at the earliest. */
const HURRY_MS = 8

/**
 * What Ink takes for its terminal. Ink writes each frame whole, after erasing the one before; of that only the frame is taken, and
 * only rows that changed are written, each at its place, as one synchronized update, at most 30 times a second, and once more for a key. So nothing ever scrolls,
 * nothing clears the scrollback, and nothing is written while nothing changes. Source: experience 7.3, 14.
 */
export class ScreenStream extends Writable {
  /** Ink is to leave cursor and synchronizing alone. */
  readonly isTTY = false
  columns: number
  rows: number
  readonly #onFrame: () => void
  #wanted: readonly string[] | null = null
  #shown: readonly string[] | null = null
  #notBefore = 0
  #isHurried = false
  #timer: NodeJS.Timeout | undefined

  /** `onFrame` is called when `takeFrame` may have something to give. */
  constructor(size: { readonly columns: number; readonly rows: number }, onFrame: () => void) {
    super({ decodeStrings: false })
    this.columns = size.columns
    this.rows = size.rows
    this.#onFrame = onFrame
  }

  override _write(chunk: string | Buffer, _encoding: BufferEncoding, done: () => void): void {
    const text = chunk.toString()
    const frame = text.replace(ERASING, '')
    if (frame !== '') {
      this.#wanted = frame.replace(/\n$/, '').split('\n')
      if (this.#shown === null) this.#notBefore = 0
      this.#onFrame()
    }
    done()
  }

  /** The terminal has another size, and shows who knows what. */
  resize(size: { readonly columns: number; readonly rows: number }): void {
    this.columns = size.columns
    this.rows = size.rows
    this.#shown = null
    this.#notBefore = performance.now() + RESIZE_MS
    this.#onFrame()
  }

  /** What the terminal shows is not known: all is written anew. */
  forget(): void {
    this.#shown = null
    this.#notBefore = 0
    this.#onFrame()
  }

  /** A key was pressed: what comes of it is drawn without waiting for its turn. */
  hurry(): void {
    const hurried = this.#notBefore - FRAME_MS + HURRY_MS
    if (this.#shown === null || this.#isHurried) return
    this.#isHurried = true
    this.#notBefore = hurried
    if (this.#timer === undefined) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#due(), FRAME_MS)
  }

  /** What makes the terminal show the newest frame; '' if it does already, or if it is too early, in which case `onFrame` is called later. */
  takeFrame(): string {
    const rows = this.#wanted?.slice(0, this.rows) ?? []
    const changed = changedRows(this.#shown, rows)
    if (this.#wanted === null || (changed.length === 0 && this.#shown !== null)) return ''
    const now = performance.now()
    if (now < this.#notBefore) {
      this.#timer ??= setTimeout(() => this.#due(), this.#notBefore - now)
      return ''
    }
    const clear = this.#shown === null ? `${CSI}2J` : ''
    this.#shown = rows
    this.#notBefore = now + FRAME_MS
    this.#isHurried = false
    return `${BEGIN}${clear}${changed.join('')}${END}`
  }

  override _destroy(_error: Error | null, done: () => void): void {
    clearTimeout(this.#timer)
    done()
  }

  #due(): void {
    this.#timer = undefined
    this.#onFrame()
  }
}

/** Rows that look different, each with where it belongs; what stood there is erased first, since widths are only guessed. */
function changedRows(shown: readonly string[] | null, rows: readonly string[]): readonly string[] {
  const changed: string[] = []
  for (let row = 0; row < Math.max(rows.length, shown?.length ?? 0); row++) {
    const text = rows[row] ?? ''
    if (text === (shown?.[row] ?? '')) continue
    changed.push(`${CSI}${row + 1};1H${CSI}K${text.replace(ROW_CONTROLS, '$1')}`)
  }
  return changed
}
