import { randomUUID } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { WebSocket } from 'ws'
import { CLOSE_CODES, type CloseName, retryReason } from '../../schema/wire/close-codes.ts'
import { encodeSyncUpdate, readClientSyncMessage } from '../../schema/wire/sync.ts'
import type { DocumentMembership, DocumentSubscriber, JoinOutcome } from './host-port.ts'
import type { Visitor } from './http/gate.ts'
import { Liveness } from './link/heartbeat.ts'
import { Outbound } from './link/outbound.ts'
import { RateBudget } from './link/rate-budget.ts'
import type { OpenLink, TransportParts } from './parts.ts'

/** An update that changes nothing: a stock provider counts messages, not pings. Source: V1. */
const EMPTY_UPDATE = encodeSyncUpdate(Uint8Array.of(0, 0))

/** The surface shown for a socket that belongs to no command connection: a stock provider. */
const STOCK_SURFACE = 'y-websocket'

/** How a document socket came in, and which document it wants. */
export interface SyncEntrance {
  readonly ws: WebSocket
  readonly socket: Duplex
  readonly visitor: Visitor
  readonly document: { readonly kind: 'session'; readonly sessionId: string } | { readonly kind: 'catalog' }
  /** The build of the document the client holds. */
  readonly generation: string | undefined
}

/**
 * One client's socket on one document: it may ask, never write. Source: A4, V1, V9, V10.
 *
 *   joining (not read) ── joined ──▶ open ── write 4403 · garbage 1007 · too big 1009 · too often 4408 · silence ──▶ closed
 *      └── refused ─────────────────────────────────────────────────────────────────────────────────────────────────▶ closed
 */
export class DocumentSocket implements OpenLink, DocumentSubscriber {
  readonly connectionId: string
  readonly surface: string
  readonly clientInstanceId: string
  readonly credentialId: string | undefined
  readonly #parts: TransportParts
  readonly #ws: WebSocket
  readonly #outbound: Outbound
  readonly #liveness: Liveness
  readonly #requests: RateBudget
  readonly #messages: RateBudget
  #membership: DocumentMembership | undefined
  #quietTicks = 0
  #hasSent = false

  constructor(parts: TransportParts, entrance: SyncEntrance) {
    const { ws, socket, visitor } = entrance
    const { limits, metrics } = parts
    this.connectionId = visitor.entry?.connectionId ?? randomUUID()
    this.surface = visitor.entry?.actor.surface ?? STOCK_SURFACE
    this.clientInstanceId = visitor.entry?.actor.clientInstanceId ?? this.connectionId
    this.credentialId = visitor.credentialId
    this.#parts = parts
    this.#ws = ws
    this.#liveness = new Liveness(limits)
    this.#requests = new RateBudget(limits.syncRequestsPerSecond, performance.now())
    this.#messages = new RateBudget(limits.commandsPerSecond, performance.now())
    const resync = () => this.#membership?.resync()
    const onSlow = () => metrics.slowConsumersTotal.add()
    const giveUp = () => this.#refuse('slow_consumer')
    this.#outbound = new Outbound({ ws, socket, isBinary: true, resync, onSlow, giveUp }, parts.flushes, limits)
    ws.on('message', (bytes: Buffer, isBinary) => this.#receive(bytes, isBinary))
    ws.on('ping', () => this.#liveness.heard())
    ws.on('pong', () => this.#liveness.heard())
    ws.on('error', () => {})
    ws.on('close', () => this.#leave())
    parts.links.add(this)
    parts.heartbeat.add(this)
    void this.#join(entrance)
  }

  get pendingBytes(): number {
    return this.#outbound.pendingBytes
  }

  send(message: Uint8Array): void {
    this.#hasSent = true
    this.#quietTicks = 0
    this.#outbound.send(message)
  }

  close(code: number, reason: string): void {
    this.#leaveRoom()
    this.#outbound.close(code, reason)
    this.#ws.resume()
  }

  terminate(): void {
    this.#leaveRoom()
    this.#ws.terminate()
  }

  tick(): void {
    this.#outbound.tick()
    const { limits } = this.#parts
    const step = this.#liveness.tick()
    if (step === 'dead') return void this.terminate()
    if (step === 'ping' && this.#ws.bufferedAmount < limits.socketBufferBytes) this.#ws.ping()
    this.#quietTicks += 1
    if (this.#hasSent && this.#quietTicks * limits.heartbeatTickMs >= limits.quietUpdateMs) this.send(EMPTY_UPDATE)
  }

  /** Nothing is read before the room has let the socket in: what the client says meanwhile waits in its own buffers. */
  async #join({ document, generation }: SyncEntrance): Promise<void> {
    this.#ws.pause()
    const { host, logger } = this.#parts
    const request = generation === undefined ? {} : { generation }
    let outcome: JoinOutcome
    try {
      outcome = await (document.kind === 'catalog'
        ? host.joinCatalog(request, this)
        : host.joinSession(document.sessionId, request, this))
    } catch (error) {
      logger.error({ err: error, code: 'internal_failure' }, 'joining a document threw')
      return this.#refuse('reloading')
    }
    if (outcome.kind === 'refused') return this.close(outcome.closeCode, outcome.reason)
    if (this.#ws.readyState !== WebSocket.OPEN) return outcome.membership.leave()
    this.#membership = outcome.membership
    this.#ws.resume()
  }

  #receive(bytes: Buffer, isBinary: boolean) {
    const membership = this.#membership
    if (!membership || this.#outbound.isClosed) return
    this.#liveness.heard()
    const now = performance.now()
    if (!isBinary) return this.#refuse('malformed')
    if (!this.#messages.take(now)) return this.#refuse('rate_limited')
    const message = readClientSyncMessage(bytes)
    if (message.kind === 'awareness') return
    if (message.kind === 'write') return this.#refuse('read_only')
    if (message.kind === 'malformed') return this.#refuse('malformed')
    if (!this.#requests.take(now)) return this.#refuse('rate_limited')
    if (message.kind === 'query_awareness') return membership.queryAwareness()
    if (message.stateVector.length > this.#parts.limits.stateVectorBytes) return this.#refuse('too_large')
    try {
      membership.syncStep1(message.stateVector)
    } catch {
      this.#refuse('malformed')
    }
  }

  #refuse(name: CloseName): void {
    const code = CLOSE_CODES[name]
    const isRetry = code >= 4500 || name === 'rate_limited'
    this.close(code, isRetry ? retryReason(name, 1_000) : name)
  }

  #leave(): void {
    this.#leaveRoom()
    this.#outbound.abandon()
    this.#parts.links.delete(this)
    this.#parts.heartbeat.remove(this)
  }

  #leaveRoom(): void {
    const membership = this.#membership
    this.#membership = undefined
    membership?.leave()
  }
}
