import { editingOf } from '../../view/composer/editing-keys.ts'
import {
  type EditorState,
  hasTrailingBackslash,
  pasted,
  typed,
  withNewline,
  withText,
} from '../../view/composer/editor.ts'
import { expanded } from '../../view/composer/folded-text.ts'
import { isWalking, walked } from '../../view/composer/history.ts'
import { movedDown, movedUp } from '../../view/composer/moves.ts'
import { isBlank, refusalOf } from '../../view/composer/size.ts'
import { chordOf, type KeyPress } from '../../view/keymap/key.ts'
import type { App } from '../app/app-context.ts'
import { composerRows } from './composer-lines.ts'
import { type ComposerProps, draftKeyOf, type TypingLayer } from './composer-props.ts'
import type { SendMode } from './draft-store.ts'
import { writeInEditor } from './external-editor.ts'

/** A second Ctrl+C within this leaves. Unit: ms. */
const LEAVE_WITHIN_MS = 2_000

/** What the keys of the composer work on. */
export interface ComposerKeys {
  readonly props: ComposerProps
  readonly app: App
  /** When Ctrl+C was pressed last; ms of a clock that does not jump. */
  readonly clearedAt: { current: number }
  readonly openSearch: () => void
}

/** The keys of the composer. Source: experience 6.1, 6.2, 7.2. */
export function composerLayer(keys: ComposerKeys): TypingLayer {
  const { props, app } = keys
  const { drafts, isRunning } = props
  const key = draftKeyOf(props)
  const editor = (): EditorState => drafts.get(key).editor
  const isEmpty = (): boolean => editor().text === ''
  const isSwapped = app.options.settings.enterWhileRunning === 'steering'
  return {
    context: 'composer',
    handlers: {
      'composer.send': () =>
        hasTrailingBackslash(editor())
          ? put(keys, withNewline)
          : send(keys, isRunning ? (isSwapped ? 'steer' : 'queue') : 'send'),
      'queue.steer': () => send(keys, isRunning ? (isSwapped ? 'queue' : 'steer') : 'send'),
      'composer.queue': () => isRunning && props.isWaiting !== true && !isBlank(editor()) && send(keys, 'queue'),
      'composer.newline': () => put(keys, withNewline),
      'composer.recall': () => recall(keys),
      'composer.search': keys.openSearch,
      'composer.editor': () => void writeInEditor({ drafts, draftKey: key, app }),
      'app.clear_or_leave': () => clearOrLeave(keys),
      'app.leave': () => isEmpty() && app.leave(),
    },
    onText: (text, press) => onKey(keys, text, press),
    onPaste: text => put(keys, state => pasted(state, text)),
  }
}

function onKey(keys: ComposerKeys, text: string, press: KeyPress): boolean {
  const { props } = keys
  const { drafts } = props
  const key = draftKeyOf(props)
  const chord = chordOf(press)
  const editing = editingOf(chord)
  if (editing !== undefined) {
    drafts.edit(key, editing.apply)
    return true
  }
  if (chord === 'up' || chord === 'down') return moveRow(keys, chord)
  if (text === '' || press.ctrl || press.alt || press.key === 'tab' || press.key === 'enter') return false
  if (drafts.get(key).editor.text === '') {
    if (text === '?' || text === ':') return false
    if (text === '/' && props.onSlash?.() === true) return true
  }
  return put(keys, state => typed(state, text))
}

/** Puts something in, or says why not. */
function put({ props, app }: ComposerKeys, change: (state: EditorState) => EditorState): boolean {
  const { drafts } = props
  const key = draftKeyOf(props)
  const before = drafts.get(key).editor
  drafts.edit(key, change)
  if (drafts.get(key).editor === before) app.tell('The draft is full: nothing more fits in', 'warn')
  return true
}

/** Takes the text out of the composer and gives it to the leader; it is lost on no way. */
function send({ props, app }: ComposerKeys, mode: SendMode): boolean {
  const { drafts, history, sessionId, canSend, reason, onSend } = props
  const key = draftKeyOf(props)
  const { editor } = drafts.get(key)
  if (isBlank(editor)) return false
  const refusal = canSend ? refusalOf(editor) : (reason ?? 'Nothing can be sent now')
  const sending = refusal === null ? drafts.beginSending(key, mode) : null
  if (sending === null) {
    app.tell(refusal ?? 'Too many messages are on their way: this one waits here', 'warn')
    return true
  }
  const text = expanded(editor)
  void accepted(() => onSend(text, mode)).then(isAccepted => {
    drafts.endSending(sending, isAccepted)
    if (isAccepted) void history.add(sessionId, text)
  })
  return true
}

async function accepted(give: () => Promise<boolean>): Promise<boolean> {
  try {
    return await give()
  } catch {
    return false
  }
}

/** ↑: on an empty composer takes a waiting message back, on the first row shows what was sent before. */
function recall(keys: ComposerKeys): boolean {
  const { drafts, onRecall } = keys.props
  const { editor, walk } = drafts.get(draftKeyOf(keys.props))
  if (editor.text === '' && !isWalking(walk) && onRecall()) return true
  return moveRow(keys, 'up')
}

function moveRow({ props }: ComposerKeys, way: 'up' | 'down'): boolean {
  const { drafts, history, sessionId, columns } = props
  const key = draftKeyOf(props)
  const draft = drafts.get(key)
  const finder = composerRows(draft.editor, columns)
  const moved = way === 'up' ? movedUp(draft.editor, finder) : movedDown(draft.editor, finder)
  if (moved !== null) {
    drafts.edit(key, () => moved)
    return true
  }
  const step = way === 'up' ? -1 : 1
  const there = walked(draft.walk, step, { entries: history.texts(sessionId), text: draft.editor })
  if (there === null) return draft.editor.text !== ''
  drafts.set(key, { ...draft, walk: there.walk, editor: withText(draft.editor, there.text) })
  return true
}

function clearOrLeave({ props, app, clearedAt }: ComposerKeys): boolean {
  const { drafts, history, sessionId, isRunning } = props
  const now = performance.now()
  const cleared = drafts.clear(draftKeyOf(props))
  if (cleared !== null) void history.add(sessionId, cleared)
  else if (now - clearedAt.current < LEAVE_WITHIN_MS) {
    app.leave()
    return true
  }
  clearedAt.current = now
  app.tell(`Ctrl+C again leaves${isRunning ? '; the turn keeps running' : ''}`)
  return true
}
