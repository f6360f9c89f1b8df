import type { ExecutionMetrics } from '../execution/ports.ts'
import type { SessionMetrics } from '../session/environment.ts'
import type { Metrics } from './metrics.ts'

/** What sessions count, in the leader's metrics. */
export function sessionMetrics(metrics: Metrics): SessionMetrics {
  return {
    commandQueued: seconds => metrics.commandQueueWaitSeconds.observe(seconds),
    commandCommitted: seconds => metrics.commandCommitSeconds.observe(seconds),
    projected: seconds => metrics.projectionApplySeconds.observe(seconds),
    ledgerAppended: bytes => metrics.ledgerAppendedBytesTotal.addMany(bytes),
    interactionSettled: seconds => metrics.interactionWaitSeconds.observe(seconds),
    recoveryTook: seconds => metrics.recoverySeconds.observe(seconds),
    turnEnded: outcome => metrics.turnsTotal.add(outcome),
    recovered: recoveryCase => metrics.recoveredTotal.add(recoveryCase),
    wentBack: () => metrics.recoveredTotal.add('root_went_back'),
  }
}

/** What runs count, in the leader's metrics. */
export function executionMetrics(metrics: Metrics): ExecutionMetrics {
  return {
    runStarted: () => {},
    runEnded: () => {},
    runCutOff: () => metrics.turnsTotal.add('cut_off'),
    lateOutput: () => metrics.turnsTotal.add('late_output'),
  }
}
