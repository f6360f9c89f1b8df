import { join } from 'node:path'
import { openLevelStore } from '../../leader/log/level-store.ts'
import { SUITE_FENCE } from '../support/store-items.ts'
import { testTempDir } from '../support/temp-dir.ts'
import { storeSuite } from './store-suite.ts'

storeSuite('the store in LevelDB', () => {
  const path = join(testTempDir('store'), 'database')
  let create = true
  return {
    open: async options => {
      const store = await openLevelStore({ path, create, fence: SUITE_FENCE, ...options })
      create = false
      return store
    },
  }
})
