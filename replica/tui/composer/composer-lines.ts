import type { EditorState } from '../../view/composer/editor.ts'
import { expanded } from '../../view/composer/folded-text.ts'
import type { HistorySearch } from '../../view/composer/history.ts'
import type { Row, RowFinder } from '../../view/composer/rows.ts'
import { rowFinder } from '../../view/composer/rows.ts'
import { sizeWords } from '../../view/composer/size.ts'
import { viewportOf } from '../../view/composer/viewport.ts'
import { terminalLine } from '../../view/terminal-text.ts'
import type { Line, Span } from '../text/line.ts'
import { clipText, lineWidth, spread, widthOf } from '../text/measure.ts'
import type { Draft, Sending } from './draft-store.ts'

/** What the composer looks like now. `placeholder`: what an empty one says. */
export interface ComposerLook {
  readonly draft: Draft
  readonly search: HistorySearch | null
  readonly columns: number
  readonly maxRows: number
  readonly isFocused: boolean
  readonly canSend: boolean
  readonly placeholder: string
  /** What `composerLines` gave the last time. */
  readonly top: number
}

const PROMPT = '> '
/** Prompt, a space that stands beyond the last word, and the cursor behind it. */
const AROUND = PROMPT.length + 2

/** The rows of the text of an editor, as wide as the composer draws them. */
export function composerRows(editor: EditorState, columns: number): RowFinder {
  return rowFinder(editor, Math.max(1, columns - AROUND), widthOf)
}

/** The composer as rows, at least one and at most `maxRows`; `top` is for the next time. Source: experience 6.1, 7.1. */
export function composerLines(look: ComposerLook): { readonly lines: readonly Line[]; readonly top: number } {
  const { draft, columns, maxRows } = look
  const foot = footLine(look)
  const sending = sendingLines(draft.sending, look)
  const extra = [...sending, ...(foot === null ? [] : [foot])].slice(0, Math.max(0, maxRows - 1))
  const above = extra.filter(line => line !== foot)
  const below = extra.filter(line => line === foot)
  if (draft.editor.text === '' && look.search === null) {
    return { lines: [...above, emptyLine(look), ...below], top: 0 }
  }
  const editor = look.search === null ? draft.editor : foundEditor(look.search)
  const finder = composerRows(editor, columns)
  const view = viewportOf(finder, { cursor: editor.cursor, top: look.top, room: maxRows - extra.length })
  const isCursorShown = look.isFocused && look.search === null
  const lines = view.rows.map((row, index) => [
    markOf(row, {
      isMoreAbove: index === 0 && view.hasAbove,
      isMoreBelow: index === view.rows.length - 1 && view.hasBelow,
    }),
    ...rowSpans(finder, row, isCursorShown && index === view.cursorRow ? editor.cursor : null),
  ])
  return { lines: [...above, ...lines, ...below], top: look.search === null ? view.top : look.top }
}

function foundEditor({ entries, found }: HistorySearch): EditorState {
  const text = found === null ? '' : expanded({ text: entries[found] ?? '', folds: {} })
  return { text, folds: {}, cursor: 0, goal: null, kills: [], undo: [], last: { kind: 'none' } }
}

/** The prompt stands at the beginning of the text only; arrows say that there is more than what is shown. */
function markOf(row: Row, { isMoreAbove, isMoreBelow }: { isMoreAbove: boolean; isMoreBelow: boolean }): Span {
  if (isMoreAbove) return { text: '↑ ', tone: 'dim' }
  if (isMoreBelow) return { text: '↓ ', tone: 'dim' }
  return row.from === 0 ? { text: PROMPT, tone: 'user' } : { text: '  ' }
}

function rowSpans(finder: RowFinder, row: Row, cursor: number | null): readonly Span[] {
  const spans: Span[] = []
  for (const cell of finder.cells(row)) {
    const tone = cell.kind === 'plain' ? 'normal' : cell.kind === 'fold' ? 'accent' : 'dim'
    const isUnder = cursor !== null && cursor >= cell.from && cursor < cell.to
    const before = spans.at(-1)
    if (before !== undefined && before.tone === tone && !isUnder && before.inverse !== true) {
      spans[spans.length - 1] = { ...before, text: before.text + cell.text }
    } else spans.push({ text: cell.text, tone, ...(isUnder ? { inverse: true } : {}) })
  }
  if (cursor !== null && cursor >= row.to && row.isLast) spans.push({ text: ' ', inverse: true })
  return spans
}

function emptyLine({ isFocused, placeholder, columns }: ComposerLook): Line {
  const text = clipText(terminalLine(placeholder), Math.max(0, columns - AROUND))
  const first = [...text][0] ?? ' '
  return isFocused
    ? [
        { text: PROMPT, tone: 'user' },
        { text: first, tone: 'dim', inverse: true },
        { text: text.slice(first.length), tone: 'dim' },
      ]
    : [
        { text: PROMPT, tone: 'user' },
        { text, tone: 'dim' },
      ]
}

/** What is on its way: the newest text, and how many others. Without the leader nobody knows what became of it. */
function sendingLines(sending: readonly Sending[], { canSend, columns }: ComposerLook): readonly Line[] {
  const newest = sending.at(-1)
  if (newest === undefined) return []
  const others = sending.length === 1 ? '' : ` (${sending.length})`
  const state = `${canSend ? 'sending' : 'checking'}${others}… `
  const room = Math.max(0, columns - widthOf(state) - 2)
  const beginning = expanded({ ...newest.text, text: newest.text.text.slice(0, columns * 2) }).slice(0, columns * 4)
  return [[{ text: `  ${state}${clipText(terminalLine(beginning.toWellFormed()), room)}`, tone: 'dim' }]]
}

function footLine({ search, draft, columns }: ComposerLook): Line | null {
  if (search !== null) return searchLine(search, columns)
  const size = sizeWords(draft.editor)
  if (size === null && draft.notice === null) return null
  const right: Line = size === null ? [] : [{ text: size.words, tone: size.isOver ? 'warn' : 'dim' }]
  return spread([{ text: `  ${draft.notice ?? ''}`, tone: 'dim' }], right, columns)
}

function searchLine({ query, found }: HistorySearch, columns: number): Line {
  const isMissing = found === null && query !== ''
  const left: Line = [
    { text: isMissing ? '  nothing sent has ' : '  sent before: ', tone: isMissing ? 'warn' : 'dim' },
    { text: terminalLine(query) },
    { text: ' ', inverse: true },
  ]
  const right: Line = [{ text: 'enter takes it · ^R older · esc back', tone: 'dim' }]
  return lineWidth(left) + lineWidth(right) < columns ? spread(left, right, columns) : left
}
