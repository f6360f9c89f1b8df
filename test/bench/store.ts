import type { Bench } from './bench.ts'
import { FLOOR } from './floors.ts'
import { measureStore } from './store-floor.ts'

const MEASURE_MS = 1_500
const PRODUCERS = [1, 8, 64, 256] as const

/** The committer on LevelDB alone: whole commands of 1 to 256 producers, without validation, documents and sockets. */
export const store: Bench = {
  name: 'store',
  needs: ['floors'],
  async run({ report, scale }) {
    for (const producers of PRODUCERS) {
      const { perSecond, p50Ms } = await measureStore(producers, 'command', MEASURE_MS * scale)
      const name = `${producers} producer${producers === 1 ? '' : 's'}`
      const against = producers === 1 ? FLOOR.serialPuts : FLOOR.batches
      report.add({ what: `store, transitions, ${name}`, value: perSecond, unit: 'per_second', against })
      report.add({ what: `store, wait, ${name}, p50`, value: p50Ms, unit: 'ms', against: FLOOR.append })
    }
  },
}
