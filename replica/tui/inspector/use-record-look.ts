import { useState } from 'react'
import type { LedgerFeed } from '../../react/ledger/ledger-feed.ts'
import { useApp } from '../app/app-context.ts'
import { outcomeOf } from '../session/outcome.ts'
import { type RecordLook, recordText } from './record-detail.tsx'

/** Said where there is no leader. */
export const ONLY_LEADER = 'The ledger is only with the leader; it is read again once there is one.'

/** Looking at one record, and copying it. `false` where none is marked. */
export interface RecordLooking {
  /** What is looked at; null: nothing. */
  readonly look: RecordLook | null
  open(revision: number | null): unknown
  copy(revision: number | null): unknown
  close(): void
}

/** Reads a record when it is looked at or copied: the timeline itself keeps none. */
export function useRecordLook(feed: Pick<LedgerFeed, 'record'>): RecordLooking {
  const app = useApp()
  const [look, setLook] = useState<RecordLook | null>(null)
  const read = async (revision: number): Promise<RecordLook> => {
    const outcome = await outcomeOf(feed.record(revision))
    if (!outcome.ok) return { kind: 'away', why: outcome.sentence }
    return outcome.result === null ? { kind: 'away', why: ONLY_LEADER } : { kind: 'there', record: outcome.result }
  }
  return {
    look,
    open: revision => {
      if (revision === null) return false
      setLook({ kind: 'looking' })
      void read(revision).then(found => setLook(before => (before === null ? null : found)))
      return true
    },
    copy: revision => {
      if (revision === null) return false
      void read(revision).then(found => {
        if (found.kind === 'there') app.copy(recordText(found.record))
        else if (found.kind === 'away') app.tell(found.why, 'warn')
      })
      return true
    },
    close: () => setLook(null),
  }
}
