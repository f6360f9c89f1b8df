import type { GateLists } from './gate.ts'

/** What an operator said about the names of a TCP endpoint. */
export interface TcpNames {
  readonly host: string
  readonly isTls: boolean
  /** Further values of the Host header, with or without a port. */
  readonly allowedHosts: readonly string[]
  /** Where browsers find it, if a proxy or name stands in front. */
  readonly publicUrl: string | undefined
}

/** On the Unix socket or pipe no browser comes in, and the names that clients put into Host are fixed. Source: W1. */
export function socketLists(): GateLists {
  return {
    transport: 'socket',
    hosts: new Set(['localhost', 'headwater']),
    origins: new Set(),
    redirectHosts: new Set(),
    canonicalOrigin: 'http://localhost',
  }
}

/** The names of a TCP endpoint: its own address, what the operator allowed, and nothing that a request brings along. Source: Z4. */
export function tcpLists(names: TcpNames, port: number): GateLists {
  const scheme = names.isTls ? 'https' : 'http'
  const own = isWildcard(names.host) ? '127.0.0.1' : names.host
  const hosts = new Set(withPort(bracketed(own), port, names.isTls))
  for (const allowed of names.allowedHosts) {
    for (const host of hasPort(allowed) ? [allowed] : [allowed, ...withPort(allowed, port, names.isTls)]) {
      hosts.add(host.toLowerCase())
    }
  }
  const origins = new Set([...hosts].map(host => `${scheme}://${host}`))
  if (names.publicUrl !== undefined) {
    const url = new URL(names.publicUrl)
    hosts.add(url.host)
    origins.add(url.origin)
  }
  const canonicalOrigin = `${scheme}://${withPort(bracketed(own), port, names.isTls)[0]}`
  const redirectHosts = new Set(withPort('localhost', port, names.isTls).filter(host => !hosts.has(host)))
  return { transport: 'tcp', hosts, origins, redirectHosts, canonicalOrigin }
}

function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

function hasPort(host: string): boolean {
  return /:\d+$/.test(host)
}

/** The Host header's forms of an address: a browser leaves the scheme's own port out. */
function withPort(host: string, port: number, isTls: boolean): string[] {
  return port === (isTls ? 443 : 80) ? [host, `${host}:${port}`] : [`${host}:${port}`]
}
