import type { IncomingMessage } from 'node:http'
import { BEARER_PREFIX } from '../../../schema/wire/sync.ts'
import { isSameText, type Scope } from '../auth.ts'
import type { TransportParts } from '../parts.ts'
import type { RosterEntry } from '../roster.ts'

/** The names under which one listener may be addressed. Compared as text, case-insensitively, never with each other. Source: Z4. */
export interface GateLists {
  readonly transport: 'socket' | 'tcp'
  /** Values of the Host header. */
  readonly hosts: ReadonlySet<string>
  /** Values of the Origin header; a request without one is no browser's. */
  readonly origins: ReadonlySet<string>
  /** Host values from which a page navigation is sent on to `canonicalOrigin`. */
  readonly redirectHosts: ReadonlySet<string>
  readonly canonicalOrigin: string
}

/** Who a request is from. `entry` is there if it showed the ticket of a living command connection. */
export interface Visitor {
  readonly scope: Scope
  readonly credentialId: string | undefined
  readonly entry?: RosterEntry
}

/** True if Host and Origin are among the fixed names. */
export function isAddressedHere(lists: GateLists, request: IncomingMessage): boolean {
  const { host, origin } = request.headers
  if (host === undefined || !lists.hosts.has(host.toLowerCase())) return false
  return origin === undefined || lists.origins.has(origin.toLowerCase())
}

/** The address a page navigation to another name of this machine is sent on to, or undefined. Source: W1. */
export function redirectTarget(lists: GateLists, request: IncomingMessage): string | undefined {
  const { host, accept } = request.headers
  if (request.method !== 'GET' || host === undefined || !lists.redirectHosts.has(host.toLowerCase())) return undefined
  const isNavigation = request.headers['sec-fetch-mode'] === 'navigate' || (accept ?? '').includes('text/html')
  if (!isNavigation || !request.url?.startsWith('/')) return undefined
  return lists.canonicalOrigin + request.url
}

/** The credential in the Authorization header or among the subprotocols offered. It is never taken from the address. */
export function readBearer(request: IncomingMessage): string | undefined {
  const header = /^bearer +([^\s]+)$/i.exec(request.headers.authorization ?? '')?.[1]
  if (header !== undefined) return header
  for (const offered of (request.headers['sec-websocket-protocol'] ?? '').split(',')) {
    const name = offered.trim()
    if (name.startsWith(BEARER_PREFIX)) return name.slice(BEARER_PREFIX.length)
  }
  return undefined
}

/**
 * Who a bearer is: a key's owner, or the client whose ticket it is. On the Unix socket the operating system has authenticated
 * the caller already; a ticket there only says which client it is. Source: Z2, Z3, W1.
 */
export function identify(parts: TransportParts, lists: GateLists, bearer: string | undefined): Visitor | undefined {
  const entry = bearer === undefined ? undefined : parts.roster.findByTicket(bearer)
  if (entry !== undefined && isSameText(entry.ticket, bearer!)) {
    return { scope: entry.scope, credentialId: lists.transport === 'tcp' ? entry.credentialId : undefined, entry }
  }
  if (lists.transport === 'socket') return { scope: 'full', credentialId: undefined }
  const credential = bearer === undefined ? undefined : parts.credentials.findByKey(bearer)
  if (!credential) return undefined
  credential.lastSeenAt = Date.now()
  return { scope: credential.scope, credentialId: credential.id }
}
