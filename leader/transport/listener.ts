import { isIPv4 } from 'node:net'
import { HeadwaterError } from '../../schema/errors.ts'
import { LIMITS } from '../../schema/limits.ts'
import { CLOSE_CODES, retryReason } from '../../schema/wire/close-codes.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { CredentialTable } from './auth.ts'
import { Endpoint, type TlsKeys } from './endpoint.ts'
import type { HostPort } from './host-port.ts'
import { socketLists, tcpLists } from './http/gate-lists.ts'
import { FlushQueue } from './link/flush-queue.ts'
import { Heartbeat } from './link/heartbeat.ts'
import { type OpenLink, type TransportLimits, type TransportParts, transportLimits } from './parts.ts'
import type { ConnectionRoster } from './roster.ts'

/**
 * TCP beside the socket. `port` 0 is any free one. An address that others can reach needs `tls`, or `isInsecure` typed by the
 * operator; `publicUrl` and `allowedHosts` are further names it answers to. Source: Z1.
 */
export interface TcpOptions {
  readonly host: string
  readonly port: number
  readonly tls?: TlsKeys
  readonly publicUrl?: string
  readonly allowedHosts?: readonly string[]
  readonly isInsecure?: boolean
}

/** What the transport needs; at least one of `socketPath` and `tcp` is given. */
export interface ListenersOptions {
  readonly host: HostPort
  readonly socketPath?: string
  readonly tcp?: TcpOptions
  readonly credentials: CredentialTable
  readonly roster: ConnectionRoster
  readonly logger: Logger
  readonly metrics: Metrics
  readonly limits?: Partial<TransportLimits>
}

/** The leader's listeners, open. */
export interface Listeners {
  /** Of the TCP listener; undefined if there is none. */
  readonly url: string | undefined
  readonly port: number | undefined
  readonly socketPath: string | undefined
  /** Tells every client that the leader's state changed. */
  announceState(): void
  /** Closes every socket that was opened with this credential, 4401. */
  revoke(credentialId: string): void
  /**
   * Stops listening and ends all connections: with `drain` clients get what is queued for them and a retry code, and up to 2 s to
   * confirm; without it they are cut. Resolves when no handle is left. Source: E6, W6.
   */
  close(how: { readonly drain: boolean }): Promise<void>
}

/**
 * Starts one server on the Unix socket or pipe and one on TCP, both with the same routes. Resolves when both listen.
 * Rejects with `port_busy`, `path_too_long`, or what the system says; then neither listens. Source: W1.
 */
export async function startListeners(options: ListenersOptions): Promise<Listeners> {
  const { socketPath, tcp } = options
  if (tcp) assertMayListen(tcp)
  if (socketPath !== undefined && Buffer.byteLength(socketPath) > LIMITS.socketPathBytes) {
    throw new HeadwaterError('path_too_long')
  }
  const parts = openParts(options)
  const local =
    socketPath === undefined ? undefined : new Endpoint(parts, { listen: { path: socketPath }, lists: socketLists })
  const remote = tcp && openTcp(parts, tcp)
  const endpoints = [local, remote].filter(endpoint => endpoint !== undefined)
  try {
    for (const endpoint of endpoints) await endpoint.open()
  } catch (error) {
    await closeAll(parts, endpoints, false)
    throw error
  }
  return {
    url: remote && tcp ? urlOf(tcp, remote.port) : undefined,
    port: remote?.port,
    socketPath,
    announceState: () => parts.links.forEach(link => void link.announceState?.()),
    revoke: credentialId => revoke(parts, credentialId),
    close: ({ drain }) => closeAll(parts, endpoints, drain),
  }
}

function openParts(options: ListenersOptions): TransportParts {
  const { host, credentials, roster, logger, metrics } = options
  const limits = transportLimits(options.limits)
  const links = new Set<OpenLink>()
  metrics.readGauge('replicas', () => roster.countBySurface())
  metrics.readGauge('outboundPendingBytes', () => {
    let bytes = 0
    for (const link of links) bytes += link.pendingBytes
    return bytes
  })
  const heartbeat = new Heartbeat(limits.heartbeatTickMs)
  return { host, credentials, roster, logger, metrics, limits, links, heartbeat, flushes: new FlushQueue() }
}

function openTcp(parts: TransportParts, tcp: TcpOptions): Endpoint {
  const { host, port, tls, publicUrl, allowedHosts = [] } = tcp
  const names = { host, isTls: tls !== undefined, allowedHosts, publicUrl }
  const lists = (bound: number) => tcpLists(names, bound)
  return new Endpoint(parts, { listen: { host, port }, lists, ...(tls ? { tls } : {}) })
}

function urlOf({ host, tls, publicUrl, allowedHosts = [] }: TcpOptions, port: number): string {
  if (publicUrl !== undefined) return new URL(publicUrl).origin
  return tcpLists({ host, isTls: tls !== undefined, allowedHosts, publicUrl }, port).canonicalOrigin
}

/** Source: Z1. */
function assertMayListen({ host, tls, isInsecure }: TcpOptions): void {
  const isLoopback = host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))
  if (isLoopback || tls || isInsecure === true) return
  throw new HeadwaterError('invalid_request', 'an address that others can reach needs TLS, or --insecure')
}

function revoke({ links }: TransportParts, credentialId: string): void {
  for (const link of links) {
    if (link.credentialId === credentialId) link.close(CLOSE_CODES.unauthorized, 'unauthorized')
  }
}

async function closeAll(parts: TransportParts, endpoints: readonly Endpoint[], drain: boolean): Promise<void> {
  const { links, limits, heartbeat } = parts
  const closed = Promise.all(endpoints.map(endpoint => endpoint.stop()))
  if (drain) {
    const reason = retryReason('draining', limits.drainRetryMs)
    for (const link of links) link.close(CLOSE_CODES.draining, reason)
    await within(closed, limits.closeConfirmMs)
  }
  for (const endpoint of endpoints) endpoint.cut()
  await closed
  heartbeat.stop()
}

async function within(done: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>(resolve => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([done, late])
  clearTimeout(timer)
}
