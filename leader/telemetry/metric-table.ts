const MILLISECONDS = [0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1, 5]
const SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30]
const PEOPLE = [1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400]

/**
 * Every metric of the leader: counters end in `_total`, other names in their unit. No session id, path or text is ever a label.
 * Source: experience 9.3.
 */
export const COUNTERS = {
  commandsTotal: ['headwater_commands_total', 'Commands and queries answered.', ['kind', 'outcome']],
  handshakesTotal: ['headwater_handshakes_total', 'Handshakes of command connections by outcome.', ['outcome']],
  connectionsClosedTotal: ['headwater_connections_closed_total', 'WebSocket closes by close code.', ['code']],
  refusedRequestsTotal: [
    'headwater_refused_requests_total',
    'Requests refused before any route saw them, by HTTP status.',
    ['status'],
  ],
  slowConsumersTotal: ['headwater_slow_consumers_total', 'Backlogs dropped and sockets closed for slowness.', []],
  ledgerAppendedBytesTotal: ['headwater_ledger_appended_bytes_total', 'Bytes of ledger records made durable.', []],
  turnsTotal: ['headwater_turns_total', 'Turns ended, by outcome.', ['outcome']],
  recoveredTotal: ['headwater_recovered_total', 'Sessions settled at start, by case.', ['case']],
  storageErrorsTotal: ['headwater_storage_errors_total', 'Storage errors by code.', ['code']],
} as const satisfies Record<string, CounterRow>

/** Distributions of durations, with buckets for what is measured: work, recovery, people. */
export const HISTOGRAMS = {
  commandCommitSeconds: [
    'headwater_command_commit_seconds',
    'Decision of a command until it is durable.',
    MILLISECONDS,
  ],
  commandQueueWaitSeconds: ['headwater_command_queue_wait_seconds', 'Wait of a command in its lane.', MILLISECONDS],
  batchSyncSeconds: ['headwater_batch_sync_seconds', 'One synced batch.', MILLISECONDS],
  projectionApplySeconds: ['headwater_projection_apply_seconds', 'One transition into its document.', MILLISECONDS],
  interactionWaitSeconds: ['headwater_interaction_wait_seconds', 'Interaction opened until settled.', PEOPLE],
  recoverySeconds: ['headwater_recovery_seconds', 'Recovery of one session at start.', SECONDS],
} as const satisfies Record<string, HistogramRow>

/** Read when somebody scrapes; whoever owns the number gives a function for it. */
export const GAUGES = {
  leaderEpoch: ['headwater_leader_epoch', 'Number of this leader epoch.', null],
  sessions: ['headwater_sessions', 'Sessions by state.', 'state'],
  replicas: ['headwater_replicas', 'Connected clients by kind of surface.', 'kind'],
  projectionLagEntries: ['headwater_projection_lag_entries', 'Lane steps decided but not yet durable.', null],
  outboundPendingBytes: ['headwater_outbound_pending_bytes', 'Bytes waiting for slow sockets.', null],
  queueEntries: ['headwater_queue_entries', 'Queue entries by placement.', 'placement'],
  databaseBytes: [
    'headwater_database_bytes',
    'About how many bytes on the disk each part of the database takes.',
    'part',
  ],
  interactionsOpen: ['headwater_interactions_open', 'Pending interactions by kind.', 'kind'],
  eventLoopDelaySeconds: [
    'headwater_event_loop_delay_seconds',
    'Delay of the event loop since the last scrape.',
    'quantile',
  ],
} as const satisfies Record<string, GaugeRow>

/** Name, meaning, labels. */
export type CounterRow = readonly [name: string, help: string, labels: readonly string[]]
/** Name, meaning, upper bounds of the buckets in seconds. */
export type HistogramRow = readonly [name: string, help: string, buckets: readonly number[]]
/** Name, meaning, the one label or none. */
export type GaugeRow = readonly [name: string, help: string, label: string | null]
