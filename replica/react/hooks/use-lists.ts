import { useCallback, useMemo } from 'react'
import { joinTranscript } from '../store/joined-transcript.ts'
import { pendingOf } from '../store/pending.ts'
import type { PendingView, TranscriptView } from '../types.ts'
import { useReplicaStore } from './leader-provider.tsx'
import { useReadable, useSelected } from './use-readable.ts'

/** A session's transcript with the older pages that were loaded. `loadEarlier` loads one more, and never rejects. */
export function useTranscript(sessionId: string): TranscriptView & { readonly loadEarlier: () => Promise<void> } {
  const store = useReplicaStore()
  const session = useMemo(() => store.session(sessionId), [store, sessionId])
  const history = useReadable(useMemo(() => store.history(sessionId), [store, sessionId]))
  const projection = useSelected(session, view => view.projection)
  const loadEarlier = useCallback(() => store.loadEarlier(sessionId), [store, sessionId])
  return useMemo(() => ({ ...joinTranscript(projection, history), loadEarlier }), [projection, history, loadEarlier])
}

/** What waits for a person, over all sessions, oldest first. */
export function usePending(): PendingView {
  const store = useReplicaStore()
  return useReadable(useMemo(() => pendingOf(store), [store]))
}
