import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { type HistorySearch, searchIn } from '../../view/composer/history.ts'
import { useApp } from '../app/app-context.ts'
import { useActions } from '../keys/use-actions.ts'
import { Lines } from '../parts/lines.tsx'
import type { Line } from '../text/line.ts'
import { composerLayer } from './composer-keys.ts'
import { composerLines } from './composer-lines.ts'
import { type ComposerProps, draftKeyOf } from './composer-props.ts'
import type { Draft, DraftStore } from './draft-store.ts'
import { searchLayer } from './search-keys.ts'

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
  const [search, setSearch] = useState<HistorySearch | null>(null)
  const clearedAt = useRef(Number.NEGATIVE_INFINITY)
  const top = useRef(0)
  useEffect(() => {
    void drafts.open(key)
    void history.load()
    setSearch(null)
    return () => void drafts.flush()
  }, [drafts, history, key])
  const openSearch = (): void => {
    setSearch(searchIn(history.texts()))
    void history.load().then(() => setSearch(open => (open?.query === '' ? searchIn(history.texts()) : open)))
  }
  useActions(composerLayer({ props, app, clearedAt, openSearch }), isFocused)
  useActions(searchLayer({ props, search, setSearch }), isFocused && search !== null)
  const shown = {
    draft,
    search,
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

function useDraft(drafts: DraftStore, key: string): Draft {
  const subscribe = useCallback((listener: () => void) => drafts.subscribe(key, listener), [drafts, key])
  const snapshot = useCallback(() => drafts.get(key), [drafts, key])
  return useSyncExternalStore(subscribe, snapshot, snapshot)
}

function placeholderOf({ canSend, reason, isRunning }: ComposerProps): string {
  if (!canSend) return `${reason ?? 'nothing can be sent now'} · what you write is kept`
  return isRunning ? 'Write for the next turn, or to this one' : 'Write to the agent'
}
