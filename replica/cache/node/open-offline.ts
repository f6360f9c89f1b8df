import { isAbsolute, join, resolve } from 'node:path'
import process from 'node:process'
import { placesOf, readRootId } from '../../client/node/discovery.ts'
import { ReplicaOperationError } from '../../client/types.ts'
import { OfflineReader } from '../offline-reader.ts'
import { FileCache } from './file-cache.ts'

/** Whose copies are read; `cache` is the folder, default the user's. */
export interface OfflineOptions {
  readonly root?: string
  readonly url?: string
  readonly cache?: string
}

/** Where copies are kept unless a folder is given. Source: O1. */
export function cacheFolder(cache?: string, env: Readonly<Record<string, string | undefined>> = process.env): string {
  return cache ?? join(placesOf(env).cache, 'replica')
}

/** What stands for a root or a leader's URL among the copies. */
export function addressOf({ root, url }: Pick<OfflineOptions, 'root' | 'url'>): string {
  if (url !== undefined) return new URL(url).origin
  const path = root ?? placesOf(process.env).root
  return isAbsolute(path) ? path : resolve(path)
}

/**
 * Opens what this user's replicas saw of a root, without any leader; also when the root itself is away. Throws ReplicaOperationError
 * `not_found` where nothing was ever seen of it. Source: O1, O2.
 */
export async function openOffline(options: OfflineOptions = {}): Promise<OfflineReader> {
  const cache = new FileCache(cacheFolder(options.cache))
  const address = addressOf(options)
  const marked = options.url === undefined ? await readRootId(address) : undefined
  const rootId = marked ?? (await cache.readAddress(address))
  if (rootId === null || rootId === undefined) {
    throw new ReplicaOperationError('not_found', `nothing was ever seen of ${address} here`)
  }
  return new OfflineReader(rootId, cache)
}
