import { type FSWatcher, watch } from 'node:fs'
import { join } from 'node:path'
import { type Places, REGISTRATION_FILE, rootFolder } from '../../../schema/places.ts'
import type { LeaderConnection } from '../types.ts'
import { readRegistrations } from './discovery.ts'

/** Folders that are watched in this process, each once, whoever wants to know. */
const watched = new Map<string, { readonly watcher: FSWatcher; readonly listeners: Set<() => void> }>()

/**
 * Wakes a connection that waits when another leader of its root has written down that it is ready: a restart on this machine is noticed at once
 * instead of after the back-off. Without file notifications the back-off alone serves. Ends with the connection. Source: V9, R8.
 */
export function wakeOnSuccessor(connection: LeaderConnection, places: Places): void {
  const { rootId } = connection
  const folders = places.runtimeCandidates.map(runtime => join(runtime, rootFolder(rootId)))
  let isReading = false
  const look = (): void => {
    if (connection.freshness.state === 'live' || isReading) return
    isReading = true
    void readRegistrations(places, rootId).then(([newest]) => {
      isReading = false
      const isSuccessor = newest?.state === 'ready' && newest.hostEpoch !== connection.hostEpoch
      if (isSuccessor && connection.freshness.state !== 'live') connection.retryNow()
    })
  }
  for (const folder of folders) listen(folder, look)
  void connection.closed.then(() => {
    for (const folder of folders) unlisten(folder, look)
  })
}

function listen(folder: string, listener: () => void): void {
  const known = watched.get(folder)
  if (known !== undefined) {
    known.listeners.add(listener)
    return
  }
  const listeners = new Set([listener])
  try {
    const watcher = watch(folder, { persistent: false }, (_event, name) => {
      if (name === null || name === REGISTRATION_FILE) for (const call of [...listeners]) call()
    })
    watcher.on('error', () => watched.delete(folder))
    watched.set(folder, { watcher, listeners })
  } catch {
    // The folder is not there, or the system has no more watches to give: the back-off serves.
  }
}

function unlisten(folder: string, listener: () => void): void {
  const known = watched.get(folder)
  if (known === undefined) return
  known.listeners.delete(listener)
  if (known.listeners.size > 0) return
  known.watcher.close()
  watched.delete(folder)
}
