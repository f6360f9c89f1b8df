import { useMemo } from 'react'
import { createLedgerFeed, type LedgerFeed, type LedgerView } from '../ledger/ledger-feed.ts'
import { useReplicaStore } from './leader-provider.tsx'
import { useReadable } from './use-readable.ts'

/** The ledger of a session, read while this is shown. Source: experience 9.1. */
export function useLedger(sessionId: string): LedgerView & Pick<LedgerFeed, 'loadOlder' | 'record'> {
  const store = useReplicaStore()
  const feed = useMemo(() => createLedgerFeed(store, sessionId), [store, sessionId])
  const view = useReadable(feed)
  return useMemo(() => ({ ...view, loadOlder: feed.loadOlder, record: feed.record }), [view, feed])
}
