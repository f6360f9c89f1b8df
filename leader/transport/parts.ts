import { LIMITS } from '../../schema/limits.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { CredentialTable } from './auth.ts'
import type { HostPort } from './host-port.ts'
import type { FlushQueue } from './link/flush-queue.ts'
import type { Heartbeat } from './link/heartbeat.ts'
import type { ConnectionRoster } from './roster.ts'

/** The rows of LIMITS that the transport obeys; tests may shorten times and lower counts. */
const TRANSPORT_LIMITS = {
  helloTimeoutMs: LIMITS.helloTimeoutMs,
  preAuthBytes: LIMITS.preAuthBytes,
  preAuthConnections: LIMITS.preAuthConnections,
  preAuthWaiting: LIMITS.preAuthWaiting,
  commandFrameBytes: LIMITS.commandFrameBytes,
  commandsInFlight: LIMITS.commandsInFlight,
  commandsPerSecond: LIMITS.commandsPerSecond,
  syncRequestsPerSecond: LIMITS.syncRequestsPerSecond,
  stateVectorBytes: LIMITS.stateVectorBytes,
  messageFragments: LIMITS.messageFragments,
  artifactBytes: LIMITS.artifactBytes,
  pingIntervalMs: LIMITS.pingIntervalMs,
  deadLinkMs: LIMITS.deadLinkMs,
  quietUpdateMs: LIMITS.quietUpdateMs,
  heartbeatTickMs: LIMITS.heartbeatTickMs,
  socketBufferBytes: LIMITS.socketBufferBytes,
  outboundDropBytes: LIMITS.outboundDropBytes,
  outboundCloseBytes: LIMITS.outboundCloseBytes,
  outboundStallMs: LIMITS.outboundStallMs,
  closeConfirmMs: LIMITS.closeConfirmMs,
  drainRetryMs: LIMITS.drainRetryMs,
}

/** One number for each row of LIMITS that the transport obeys. */
export type TransportLimits = { readonly [K in keyof typeof TRANSPORT_LIMITS]: number }

/** The limits with some of them replaced. */
export function transportLimits(changed: Partial<TransportLimits> = {}): TransportLimits {
  return { ...TRANSPORT_LIMITS, ...changed }
}

/** What every part of the transport works with. */
export interface TransportParts {
  readonly host: HostPort
  readonly credentials: CredentialTable
  readonly roster: ConnectionRoster
  readonly links: LinkSet
  readonly heartbeat: Heartbeat
  readonly flushes: FlushQueue
  readonly limits: TransportLimits
  readonly logger: Logger
  readonly metrics: Metrics
}

/** An open WebSocket, whatever runs on it. */
export interface OpenLink {
  /** The credential it was opened with; undefined on the Unix socket. */
  readonly credentialId: string | undefined
  readonly pendingBytes: number
  /** Tells a client on a command connection that the leader's state changed. */
  announceState?(): void
  close(code: number, reason: string): void
  terminate(): void
}

/** All open WebSockets of a leader. */
export type LinkSet = Set<OpenLink>
