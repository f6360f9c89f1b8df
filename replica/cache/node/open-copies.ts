import { type CacheSink, realSurroundings } from '../../client/ports.ts'
import type { ConnectOptions } from '../../client/types.ts'
import { CacheWriter } from '../writer.ts'
import { FileCache } from './file-cache.ts'
import { addressOf, cacheFolder } from './open-offline.ts'

/** Where a connection keeps copies of what it shows. Source: O1. */
export function openCopies({ root, url, cache }: ConnectOptions): { sink: CacheSink; address: string } | undefined {
  const isUsable = url === undefined || URL.canParse(url)
  if (!isUsable) return undefined
  const files = new FileCache(cacheFolder(typeof cache === 'string' ? cache : undefined))
  const target = { ...(root === undefined ? {} : { root }), ...(url === undefined ? {} : { url }) }
  return { sink: new CacheWriter(files, realSurroundings.clock), address: addressOf(target) }
}
