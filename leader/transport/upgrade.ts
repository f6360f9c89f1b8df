import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { type ServerOptions, WebSocketServer } from 'ws'
import { SUBPROTOCOL } from '../../schema/wire/sync.ts'
import type { Credential } from './auth.ts'
import { CommandConnection } from './connection.ts'
import { Stay } from './door.ts'
import { type GateLists, identify, isAddressedHere, readBearer, type Visitor } from './http/gate.ts'
import type { HttpConnection } from './http/http-connection.ts'
import type { TransportLimits, TransportParts } from './parts.ts'
import { DocumentSocket, type SyncEntrance } from './sync-socket.ts'

const GENERATION_CHARS = 128

type Target = { readonly kind: 'commands' } | SyncEntrance['document']

/** A request to become a WebSocket. */
export interface UpgradeRequest {
  readonly request: IncomingMessage
  readonly socket: Duplex
  readonly head: Buffer
}

/** The WebSocket half of a listener: no compression, bounded messages, and only the protocol's own name is ever echoed. Source: V1, LM10. */
export function createWebSocketServer(limits: TransportLimits): WebSocketServer {
  const options: ServerOptions & { readonly [bound: string]: unknown } = {
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: limits.commandFrameBytes,
    maxFragments: limits.messageFragments,
    maxBufferedChunks: limits.messageFragments,
    closeTimeout: limits.closeConfirmMs,
    handleProtocols: offered => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
  }
  return new WebSocketServer(options)
}

/** What becomes of an upgrade. Without a visitor a command connection proves itself after its hello. */
type Decision =
  | { readonly kind: 'refused'; readonly status: number }
  | { readonly kind: 'commands'; readonly visitor: Visitor | undefined }
  | {
      readonly kind: 'document'
      readonly visitor: Visitor
      readonly entrance: Pick<SyncEntrance, 'document' | 'generation'>
    }

/** Opens the WebSocket that was asked for, or refuses before the upgrade. Never throws. */
export function serveUpgrade(
  parts: TransportParts,
  listener: { readonly lists: GateLists; readonly webSockets: WebSocketServer },
  connection: HttpConnection,
  { request, socket, head }: UpgradeRequest,
): void {
  const { lists, webSockets } = listener
  socket.on('error', () => socket.destroy())
  const decision = decide(parts, lists, request)
  if (decision.kind === 'refused') refuse(parts, socket, decision.status)
  else {
    webSockets.handleUpgrade(request, socket, head, ws => {
      ws.once('close', code => parts.metrics.connectionsClosedTotal.add(String(code)))
      if (decision.kind === 'document') {
        connection.stay.admit()
        new DocumentSocket(parts, { ws, socket, visitor: decision.visitor, ...decision.entrance })
        return
      }
      const credential = keyOwner(parts, decision.visitor)
      const { transport } = lists
      const address = request.headers.host ?? ''
      new CommandConnection(parts, { ws, socket, stay: stayFor(connection, parts), transport, credential, address })
    })
  }
}

/**
 * Looks at address, credential and route, in this order. Over TCP a command connection may come without a key; a document needs one
 * at once. Source: Z3, Z4.
 */
function decide(parts: TransportParts, lists: GateLists, request: IncomingMessage): Decision {
  if (!isAddressedHere(lists, request)) return { kind: 'refused', status: 403 }
  const url = readUrl(request)
  const target = url && readTarget(url.pathname)
  const bearer = readBearer(request)
  const visitor = identify(parts, lists, bearer)
  if (!visitor && (target?.kind !== 'commands' || bearer !== undefined)) return { kind: 'refused', status: 401 }
  if (!target || !url) return { kind: 'refused', status: 404 }
  if (target.kind === 'commands' || !visitor) return { kind: 'commands', visitor }
  const generation = url.searchParams.get('generation') ?? undefined
  if (generation !== undefined && generation.length > GENERATION_CHARS) return { kind: 'refused', status: 400 }
  return { kind: 'document', visitor, entrance: { document: target, generation } }
}

/** The credential of a caller that showed its key. A ticket lives only as long as its connection: it opens no further one. */
function keyOwner({ credentials }: TransportParts, visitor: Visitor | undefined): Credential | undefined {
  if (visitor?.credentialId === undefined || visitor.entry) return undefined
  return credentials.find(visitor.credentialId)
}

/** A connection that was let in by an earlier request still gets a deadline for its hello. */
function stayFor({ stay, socket }: HttpConnection, { limits }: TransportParts): Stay {
  if (!stay.isAdmitted) return stay
  const fresh = new Stay(socket, limits, () => {})
  socket.once('close', () => fresh.admit())
  return fresh
}

function readUrl(request: IncomingMessage): URL | undefined {
  try {
    return new URL(`http://leader${request.url ?? '/'}`)
  } catch {
    return undefined
  }
}

/** Source: W1. An id that cannot be one is looked up all the same, so that a stock provider gets a close code that stops it. */
function readTarget(pathname: string): Target | undefined {
  const [, version, route, kind, id, ...more] = pathname.split('/')
  if (version !== 'v1' || more.length > 0) return undefined
  if (route === 'commands' && kind === undefined) return { kind: 'commands' }
  if (route !== 'sync') return undefined
  if (kind === 'catalog' && id === undefined) return { kind: 'catalog' }
  return kind === 'session' && id !== undefined && id.length > 0 ? { kind: 'session', sessionId: id } : undefined
}

function refuse({ metrics }: TransportParts, socket: Duplex, status: number): void {
  metrics.refusedRequestsTotal.add(String(status))
  socket.once('finish', () => socket.destroy())
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
}
