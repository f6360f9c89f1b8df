import { LIMITS } from '../../../schema/limits.ts'
import { type EditorState, EMPTY_EDITOR, editorOf, withText, withTextBefore } from '../../view/composer/editor.ts'
import { EMPTY_TEXT, expanded, type FoldedText, foldedText, isFold, oneFold } from '../../view/composer/folded-text.ts'
import { type HistoryWalk, isWalking, keptTexts, NO_WALK } from '../../view/composer/history.ts'
import { withKill } from '../../view/composer/kills.ts'
import { asOfWords } from '../../view/freshness-words.ts'
import type { DraftFiles, FoundDraft, KeptDraft } from './draft-file.ts'

/** What becomes of a text that is sent: a turn of its own, one after the turn that runs, or a word to that turn. */
export type SendMode = 'send' | 'queue' | 'steer'

/** A text on its way to the leader. */
export interface Sending {
  readonly id: number
  readonly text: FoldedText
  readonly mode: SendMode
}

/**
 * What the composer of a session has. `aside`: what was found of earlier and waits in the kills, until something is sent or cleared. `notice`: a
 * sentence about where its text comes from, until it changes.
 */
export interface Draft {
  readonly editor: EditorState
  readonly walk: HistoryWalk
  readonly sending: readonly Sending[]
  readonly aside: readonly FoldedText[]
  readonly notice: string | null
}

const EMPTY: Draft = { editor: EMPTY_EDITOR, walk: NO_WALK, sending: [], aside: [], notice: null }

/** No draft looks so. */
const UNSAVED = '\0'

interface Slot {
  draft: Draft
  readonly listeners: Set<() => void>
  /** What is on the disk, so that the same is not written twice. */
  saved: string
  timer: NodeJS.Timeout | null
  writing: Promise<void>
  opened: Promise<void> | null
}

/**
 * The drafts of all sessions: in memory while this terminal runs, and in files 300 ms after each change. Whoever gives text back to a person
 * (`putBack`) adds to what is there. Source: O2, experience 5.3.
 */
export class DraftStore {
  readonly #slots = new Map<string, Slot>()
  readonly #files: DraftFiles | null
  readonly #onTrouble: (message: string) => void
  #isInTrouble = false
  #nextId = 1

  /** Without `files` drafts live as long as this process. `onTrouble` is told when one cannot be saved. */
  constructor(files: DraftFiles | null, onTrouble: (message: string) => void = () => {}) {
    this.#files = files
    this.#onTrouble = onTrouble
  }

  /** The draft of a session now. */
  get(session: string): Draft {
    return this.#slots.get(session)?.draft ?? EMPTY
  }

  /** Calls the listener whenever the draft of a session changes. */
  subscribe(session: string, listener: () => void): () => void {
    const { listeners } = this.#slot(session)
    listeners.add(listener)
    return () => listeners.delete(listener)
  }

  /** Another draft; it is saved 300 ms after the last change. */
  set(session: string, draft: Draft): void {
    const slot = this.#slot(session)
    if (slot.draft === draft) return
    slot.draft = draft
    for (const listener of [...slot.listeners]) listener()
    if (slot.timer !== null) clearTimeout(slot.timer)
    slot.timer = setTimeout(() => void this.#save(session, slot), LIMITS.draftSaveMs)
  }

  /** Another text, the rest as it is. What it said about the text is not said any more. */
  edit(session: string, change: (editor: EditorState) => EditorState): void {
    const draft = this.get(session)
    const editor = change(draft.editor)
    if (editor === draft.editor) return
    const isSaid = editor.text === draft.editor.text || draft.aside.length > 0
    this.set(session, { ...draft, editor, notice: isSaid ? draft.notice : null })
  }

  /** Nothing is written any more; it can be had back by undo. What it was, null if it was nothing. */
  clear(session: string): string | null {
    const { editor, sending } = this.get(session)
    if (editor.text === '') return null
    this.set(session, { ...EMPTY, editor: withText(editor, EMPTY_TEXT), sending })
    return expanded(editor)
  }

  /** Text that comes back to the person: taken from the queue, refused, not received. It stands before what is there. */
  putBack(session: string, text: string | FoldedText): void {
    const back = typeof text === 'string' ? foldedText(text, 'large') : text
    this.edit(session, editor => {
      const next = withTextBefore(editor, back)
      return next === editor ? withKill(editor, back) : next
    })
  }

  /** The text is on its way: the composer is free, the text is kept until it is known what became of it. Null: too much is on its way. */
  beginSending(session: string, mode: SendMode): Sending | null {
    const draft = this.get(session)
    if (draft.sending.length >= LIMITS.composerSending) return null
    const { text, folds } = draft.editor
    const sending: Sending = { id: this.#nextId++, text: { text, folds }, mode }
    // What was written before the history was looked at is written again.
    const own = isWalking(draft.walk) ? draft.walk.kept[draft.walk.entries.length] : undefined
    const editor = { ...editorOf(own ?? EMPTY_TEXT), kills: draft.editor.kills }
    this.set(session, { ...EMPTY, editor, sending: [...draft.sending, sending] })
    return sending
  }

  /** What became of a text on its way: gone, or back in the draft. It is found under the name its draft has now. */
  endSending({ id, text }: Sending, isAccepted: boolean): void {
    const found = [...this.#slots].find(([, { draft }]) => draft.sending.some(one => one.id === id))
    if (found === undefined) return
    const [session, { draft }] = found
    this.set(session, { ...draft, sending: draft.sending.filter(one => one.id !== id) })
    if (!isAccepted) this.putBack(session, text)
  }

  /** All of a draft under another name: that of the session that was made for its first message. */
  rename(from: string, to: string): void {
    const draft = this.get(from)
    const there = this.get(to)
    if (draft === EMPTY || from === to) return
    const editor = there.editor.text === '' ? draft.editor : withTextBefore(there.editor, draft.editor)
    this.set(to, { ...draft, editor, sending: [...there.sending, ...draft.sending] })
    this.set(from, EMPTY)
  }

  /** Looks for a draft that was left behind, once for each session. Never throws. */
  open(session: string): Promise<void> {
    const slot = this.#slot(session)
    slot.opened ??= this.#takeUp(session)
    return slot.opened
  }

  /** All drafts are on the disk when this resolves, as far as they can be kept. */
  async flush(): Promise<void> {
    await Promise.all([...this.#slots].map(([session, slot]) => this.#save(session, slot)))
  }

  async #takeUp(session: string): Promise<void> {
    const since = Date.now()
    const found = (await this.#files?.find(session)) ?? []
    const left = found.filter(draft => !draft.isOpen && !(draft.isOwn && draft.savedAt >= since))
    if (left.length > 0) await this.#takeUpLeft(session, left)
    else {
      const open = found.find(({ isOpen, text }) => isOpen && text !== '')
      if (open === undefined) return
      const draft = this.get(session)
      const notice = `another terminal has a draft here, ${asOfWords(open.savedAt, Date.now())} · ^Y puts a copy in`
      this.set(session, { ...draft, editor: withKill(draft.editor, readKept(open)), notice })
    }
  }

  /** What was left behind goes into the composer where that is empty, and to where Ctrl+Y finds it otherwise. */
  async #takeUpLeft(session: string, left: readonly FoundDraft[]): Promise<void> {
    const draft = this.get(session)
    const [newest] = left as [FoundDraft]
    const [first = EMPTY_TEXT, ...others] = left.map(readKept)
    const isFree = draft.editor.text === '' && first.text !== ''
    const asides = left.flatMap(({ aside }) => aside).map(text => foldedText(text, 'large'))
    const rest = unique([...asides, ...others, ...(isFree ? [] : [first])], draft.editor)
    const editor = rest.reduceRight(withKill, isFree ? withText(draft.editor, first) : draft.editor)
    const when = asOfWords(newest.savedAt, Date.now())
    const more = rest.length === 0 ? '' : 'more was written here and perhaps sent · ^Y puts it in'
    const notice = [isFree ? `your draft ${when}` : '', more].filter(Boolean).join(' · ')
    if (editor !== draft.editor) this.set(session, { ...draft, editor, aside: rest, notice })
    const slot = this.#slot(session)
    await this.#save(session, slot)
    if (slot.saved !== UNSAVED) await Promise.all(left.map(one => (one.isOwn ? undefined : one.remove())))
  }

  #slot(session: string): Slot {
    const known = this.#slots.get(session)
    if (known !== undefined) {
      this.#slots.delete(session)
      this.#slots.set(session, known)
      return known
    }
    const slot: Slot = {
      draft: EMPTY,
      listeners: new Set(),
      saved: '',
      timer: null,
      writing: Promise.resolve(),
      opened: null,
    }
    this.#slots.set(session, slot)
    this.#evict()
    return slot
  }

  /** Forgets the longest unused drafts that are on the disk and that nobody looks at. */
  #evict(): void {
    if (this.#slots.size <= LIMITS.draftsOpen) return
    for (const [session, slot] of this.#slots) {
      const isIdle = slot.listeners.size === 0 && slot.timer === null && slot.draft.sending.length === 0
      const isKept = slot.draft.editor.text === '' || (this.#files !== null && slot.saved !== UNSAVED)
      if (isIdle && isKept) this.#slots.delete(session)
      if (this.#slots.size <= LIMITS.draftsOpen) return
    }
  }

  #save(session: string, slot: Slot): Promise<void> {
    if (slot.timer !== null) clearTimeout(slot.timer)
    slot.timer = null
    const kept = keptOf(slot.draft)
    const text = kept === null ? '' : JSON.stringify(kept)
    if (this.#files === null || text === slot.saved) return slot.writing
    slot.saved = text
    slot.writing = slot.writing
      .then(() => this.#files?.write(session, kept))
      .then(() => {
        this.#isInTrouble = false
      })
      .catch((error: NodeJS.ErrnoException) => {
        slot.saved = UNSAVED
        if (!this.#isInTrouble) this.#onTrouble(`The draft cannot be saved: ${error.code ?? error.message}`)
        this.#isInTrouble = true
      })
    return slot.writing
  }
}

/** What of a draft must not be lost: the text, what is on its way, and what was written elsewhere while looking at the history. */
function keptOf({ editor, walk, sending, aside: found }: Draft): KeptDraft | null {
  const isRecalled = isWalking(walk) && walk.entries[walk.at] === expanded(editor)
  const aside = [...sending.map(({ text }) => text), ...keptTexts(walk), ...found].map(expanded)
  if ((isRecalled || editor.text === '') && aside.length === 0) return null
  const folds = Object.fromEntries(Object.entries(editor.folds).map(([key, { text }]) => [key, text]))
  return isRecalled ? { text: '', folds: {}, aside } : { text: editor.text, folds, aside }
}

/** A kept draft as it was written; folds that do not fit its text are not trusted. */
function readKept({ text, folds }: KeptDraft): FoldedText {
  const known: Record<string, FoldedText['folds'][string]> = {}
  for (const [key, value] of Object.entries(folds)) {
    const fold = isFold(key) ? Object.values(oneFold(value.toWellFormed()).folds)[0] : undefined
    if (fold !== undefined) known[key] = fold
  }
  const isWhole = [...text].every(character => !isFold(character) || known[character] !== undefined)
  return isWhole ? { text: text.replace(/\r\n?/g, '\n').toWellFormed(), folds: known } : foldedText(text, 'large')
}

/** Each text once, without what is written already. */
function unique(texts: readonly FoldedText[], written: FoldedText): readonly FoldedText[] {
  const known = new Set(['', expanded(written)])
  return texts.filter(text => {
    const whole = expanded(text)
    if (known.has(whole)) return false
    known.add(whole)
    return true
  })
}
