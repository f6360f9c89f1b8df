import { useCallback, useEffect, useReducer, useRef, useState, useSyncExternalStore } from 'react'
import { type HistorySearch, searchIn } from '../../view/composer/history.ts'
import { useApp } from '../app/app-context.ts'
import { useActions } from '../keys/use-actions.ts'
import { Lines } from '../parts/lines.tsx'
import type { Line } from '../text/line.ts'
import { composerLayer } from './composer-keys.ts'
import { composerLines } from './composer-lines.ts'
import { type ComposerProps, draftKeyOf, type TypingLayer } from './composer-props.ts'
import type { Draft, DraftStore } from './draft-store.ts'
import { type SearchCell, searchLayer } from './search-keys.ts'

/** The composer. It is as high as it needs, at most `maxRows`. */
export function Composer(props: ComposerProps) {
  return <Lines lines={useComposer(props)} columns={props.columns} />
}

/** The rows of the composer, for who lays a screen out; while it has the focus it takes the keys. Source: experience 6.1, 7.2. */
export function useComposer(props: ComposerProps): readonly Line[] {
  const { drafts, history, columns, maxRows, isFocused, canSend } = props
  const key = draftKeyOf(props)
  const app = useApp()
  const draft = useDraft(drafts, key)
  const search = useSearchCell()
  const clearedAt = useRef(Number.NEGATIVE_INFINITY)
  const top = useRef(0)
  useEffect(() => {
    void drafts.open(key)
    void history.load()
    search.set(null)
    return () => void drafts.flush()
  }, [drafts, history, key, search])
  const openSearch = (): void => {
    search.set(searchIn(history.texts()))
    void history.load().then(() => {
      if (search.current?.query === '') search.set(searchIn(history.texts()))
    })
  }
  const layers = { typing: composerLayer({ props, app, clearedAt, openSearch }), searching: searchLayer(props, search) }
  // Asked at each key: one that opens the search changes what the next one means, drawn or not.
  const inForce = (): TypingLayer => (search.current === null ? layers.typing : layers.searching)
  const layer: TypingLayer = {
    context: 'composer',
    get handlers() {
      return inForce().handlers
    },
    onText: (text, press) => inForce().onText(text, press),
    onPaste: text => inForce().onPaste(text),
  }
  useActions(layer, isFocused)
  const shown = {
    draft,
    search: search.current,
    columns,
    maxRows,
    isFocused,
    canSend,
    placeholder: placeholderOf(props),
    top: top.current,
  }
  const look = composerLines(shown)
  useEffect(() => {
    top.current = look.top
  })
  return look.lines
}

function useSearchCell(): SearchCell {
  const [, drawAgain] = useReducer((count: number) => count + 1, 0)
  const [cell] = useState(() => {
    let current: HistorySearch | null = null
    return {
      get current() {
        return current
      },
      set(search: HistorySearch | null) {
        if (search === current) return
        current = search
        drawAgain()
      },
    }
  })
  return cell
}

function useDraft(drafts: DraftStore, key: string): Draft {
  const subscribe = useCallback((listener: () => void) => drafts.subscribe(key, listener), [drafts, key])
  const snapshot = useCallback(() => drafts.get(key), [drafts, key])
  return useSyncExternalStore(subscribe, snapshot, snapshot)
}

function placeholderOf({ canSend, reason, isRunning }: ComposerProps): string {
  if (!canSend) return `${reason ?? 'nothing can be sent now'} · what you write is kept`
  return isRunning ? 'Write for the next turn, or to this one' : 'Write to the agent'
}
