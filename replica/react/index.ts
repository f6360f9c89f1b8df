export type { BoundInput, BoundName, BoundResult, SessionCommands } from './commands/bound-commands.ts'
export { LeaderProvider, type LeaderProviderProps, useReplicaStore } from './hooks/leader-provider.tsx'
export { type CommandOutcome, type CommandState, useCommand, useCommands } from './hooks/use-commands.ts'
export { usePending, useTranscript } from './hooks/use-lists.ts'
export {
  useCatalog,
  useFreshness,
  useLeader,
  useLink,
  useSession,
  useSessionSlice,
  useSessionView,
} from './hooks/use-views.ts'
export { createReplicaStore, type ReplicaStoreOptions } from './replica-store.ts'
export type {
  CatalogView,
  HistoryView,
  LinkState,
  PendingView,
  Readable,
  ReplicaStore,
  SessionView,
  TranscriptView,
} from './types.ts'
