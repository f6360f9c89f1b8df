export { LeaderProvider, type LeaderProviderProps, useReplicaStore } from './hooks/leader-provider.tsx'
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
export type { CatalogView, HistoryView, LinkState, Readable, ReplicaStore, SessionView } from './types.ts'
