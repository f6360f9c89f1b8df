import { createContext, type ReactNode, useContext, useMemo } from 'react'
import type { LeaderConnection } from '../../client/types.ts'
import { createReplicaStore } from '../replica-store.ts'
import type { ReplicaStore } from '../types.ts'

const StoreContext = createContext<ReplicaStore | null>(null)

/** Whose sessions the hooks below show: those of a connection, or of a store that finds its leader by itself. */
export type LeaderProviderProps = { readonly children?: ReactNode } & (
  | { readonly connection: LeaderConnection; readonly store?: never }
  | { readonly store: ReplicaStore; readonly connection?: never }
)

/** One store for each connection, however often it is provided: mounting twice, as strict mode does, opens and closes nothing. */
const STORES = new WeakMap<LeaderConnection, ReplicaStore>()

/** Gives a leader to the hooks below. It closes neither the connection nor the store: they belong to whoever made them. Source: experience 10.1. */
export function LeaderProvider({ connection, store, children }: LeaderProviderProps) {
  const provided = useMemo(() => store ?? storeOf(connection), [store, connection])
  return <StoreContext.Provider value={provided}>{children}</StoreContext.Provider>
}

function storeOf(connection: LeaderConnection): ReplicaStore {
  const known = STORES.get(connection)
  if (known !== undefined) return known
  const made = createReplicaStore({ connection })
  STORES.set(connection, made)
  return made
}

/** The store of the provider around this part of the screen. */
export function useReplicaStore(): ReplicaStore {
  const store = useContext(StoreContext)
  if (store === null) throw new Error('this part stands outside of a LeaderProvider')
  return store
}
