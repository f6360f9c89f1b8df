import type { LeaderModule, RootCapability } from '../reach/leader-module.ts'
import type { SessionSource } from './source.ts'

type ViewStore = Awaited<ReturnType<LeaderModule['openStore']>>

/** A session read in a root that no leader serves. */
export function viewSource(store: ViewStore, { rootId }: RootCapability, sessionId: string): SessionSource {
  let transcript: ReturnType<ViewStore['transcriptOf']> | undefined
  return {
    sessionId,
    rootId,
    by: 'view',
    head: () => store.readHead(sessionId),
    header: async () => (await store.readSession(sessionId)).session,
    async *records(revision) {
      for await (const record of store.readLedger(sessionId)) {
        if (record.revision > revision) return
        yield record
      }
    },
    async transcript(wanted) {
      transcript ??= store.transcriptOf(sessionId)
      return (await transcript)(wanted)
    },
    turn: turnId => store.readTurnSnapshot(sessionId, turnId),
    plans: () => store.readPlans(sessionId),
    artifact: hash => store.readArtifact(hash),
  }
}
