import { MemoryDisk, openMemoryStore } from '../../leader/log/memory-store.ts'
import { SUITE_FENCE } from '../support/store-items.ts'
import { storeSuite } from './store-suite.ts'

storeSuite('the store in memory', () => {
  const disk = new MemoryDisk()
  return { open: options => openMemoryStore({ disk, fence: SUITE_FENCE, ...options }) }
})
