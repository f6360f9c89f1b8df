import { randomUUID } from 'node:crypto'
import { readEpoch } from '../epoch.ts'
import type { Store } from '../log/store.ts'
import { systemClock } from '../projection/clock.ts'
import { type SessionEnvironment, silentMetrics } from '../session/environment.ts'
import { ArtifactGate } from '../session/removal/artifact-gate.ts'
import { DeltaTicker } from '../session/runs/delta-ticker.ts'
import { RunSlots } from '../session/runs/run-slots.ts'

/** Sessions without a leader: they are written under the last epoch, and nothing ever runs. */
export async function offlineEnvironment(store: Store): Promise<SessionEnvironment> {
  const { number, hostEpoch } = await readEpoch(store)
  return {
    store,
    artifacts: new ArtifactGate(store),
    hostEpoch,
    epochNumber: number,
    clock: systemClock,
    newId: randomUUID,
    backends: new Set(),
    startRun: () => {
      throw new Error('nothing runs without a leader')
    },
    slots: new RunSlots(0),
    ticker: new DeltaTicker(systemClock),
    isDraining: () => false,
    onDurable: () => {},
    log: { debug() {}, info() {}, warn() {}, error() {} },
    metrics: silentMetrics,
    crash: () => {},
  }
}
