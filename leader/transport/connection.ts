import { randomBytes, randomUUID } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { ERRORS, type WireErrorCode } from '../../schema/errors.ts'
import { VERSION } from '../../schema/version.ts'
import { CLOSE_CODES, type CloseName, retryReason } from '../../schema/wire/close-codes.ts'
import type { HelloFrame, LeaderFrame, ProgressFrame, ReplyFrame } from '../../schema/wire/frames.ts'
import { type Credential, makeTicket, ROOT_CREDENTIAL_ID } from './auth.ts'
import type { Stay } from './door.ts'
import { answersChallenge, type Challenge, makeChallenge, readHello } from './handshake.ts'
import type { Caller, Reply } from './host-port.ts'
import { isRequestId, type JsonObject, parseFrame, readCommand } from './link/command-frame.ts'
import { countedName } from './link/counted-name.ts'
import { Liveness } from './link/heartbeat.ts'
import { Outbound } from './link/outbound.ts'
import { RateBudget } from './link/rate-budget.ts'
import type { OpenLink, TransportParts } from './parts.ts'
import type { RosterEntry } from './roster.ts'

/** How a command connection came in. `credential` is there if it showed a key over TCP; `address` is what it dialled. */
export interface Entrance {
  readonly ws: WebSocket
  readonly socket: Duplex
  readonly stay: Stay
  readonly transport: 'socket' | 'tcp'
  readonly credential: Credential | undefined
  readonly address: string
}

type Phase =
  | { readonly kind: 'hello' }
  | { readonly kind: 'proof'; readonly hello: HelloFrame; readonly challenge: Challenge }
  | { readonly kind: 'open'; readonly caller: Caller; readonly entry: RosterEntry }
  | { readonly kind: 'closed' }

/**
 * One client's command connection. Source: W2, W3, V9, V12, Z3, Z5.
 *
 *   hello ── on the socket, or with a key ─────────────▶ open ── bye ──▶ closed 1000
 *     │ over TCP: challenge ──▶ proof ── right ──────────▶ │
 *     │ incompatible 4406 · draining 4500 · 5 s 4501         │ garbage 1007 · > 64 in flight or a requestId twice 1008 · silence
 *     ▼                           │ wrong 4401               ▼
 *   closed ◀─────────────────────────┴──────────────────── closed
 *
 * A closed connection never cancels what it started [E5].
 */
export class CommandConnection implements OpenLink {
  readonly #parts: TransportParts
  readonly #entrance: Entrance
  readonly #outbound: Outbound
  readonly #liveness: Liveness
  readonly #budget: RateBudget
  readonly #inFlight = new Set<string>()
  #phase: Phase = { kind: 'hello' }
  #credential: Credential | undefined
  #nextPingId = 0

  constructor(parts: TransportParts, entrance: Entrance) {
    const { ws, socket, stay } = entrance
    this.#parts = parts
    this.#entrance = entrance
    this.#credential = entrance.credential
    this.#liveness = new Liveness(parts.limits)
    this.#budget = new RateBudget(parts.limits.commandsPerSecond, performance.now())
    const onSlow = () => parts.metrics.slowConsumersTotal.add()
    const giveUp = () => this.#refuse('slow_consumer')
    this.#outbound = new Outbound({ ws, socket, isBinary: false, onSlow, giveUp }, parts.flushes, parts.limits)
    ws.on('message', (bytes: Buffer, isBinary) => this.#receive(bytes, isBinary))
    ws.on('pong', () => this.#liveness.heard())
    ws.on('error', () => {})
    ws.on('close', () => this.#leave())
    stay.watchWebSocket(cause => this.#expire(cause))
    parts.links.add(this)
    parts.heartbeat.add(this)
  }

  get credentialId(): string | undefined {
    return this.#entrance.transport === 'tcp' ? this.#credential?.id : undefined
  }

  get pendingBytes(): number {
    return this.#outbound.pendingBytes
  }

  announceState(): void {
    if (this.#phase.kind === 'open') this.#send({ kind: 'state', state: this.#parts.host.state })
  }

  close(code: number, reason: string): void {
    this.#leaveRoster()
    this.#phase = { kind: 'closed' }
    this.#outbound.close(code, reason)
  }

  terminate(): void {
    this.#leaveRoster()
    this.#entrance.ws.terminate()
  }

  /** Pings in both ways: a page cannot see a WebSocket's own pings, a simple script answers only those. Source: V9. */
  tick(): void {
    this.#outbound.tick()
    const step = this.#liveness.tick()
    if (step === 'dead') this.terminate()
    if (step !== 'ping' || this.#phase.kind !== 'open') return
    const { ws } = this.#entrance
    this.#send({ kind: 'ping', id: this.#nextPingId++ })
    if (ws.bufferedAmount < this.#parts.limits.socketBufferBytes) ws.ping()
  }

  #receive(bytes: Buffer, isBinary: boolean) {
    if (this.#outbound.isClosed) return
    this.#liveness.heard()
    const phase = this.#phase
    if (phase.kind !== 'open' && bytes.length > this.#parts.limits.preAuthBytes) return this.#refuse('too_large')
    const frame = isBinary ? undefined : parseFrame(bytes)
    if (!frame) return this.#refuse('malformed')
    if (phase.kind === 'open') this.#receiveOpen(frame, phase.caller)
    else if (phase.kind === 'hello') this.#receiveHello(frame)
    else if (phase.kind === 'proof') this.#receiveProof(frame, phase)
  }

  #receiveOpen(frame: JsonObject, caller: Caller) {
    const { requestId } = frame
    if (requestId === undefined) return this.#receiveControl(frame)
    if (!isRequestId(requestId)) return this.#refuse('malformed')
    if (this.#inFlight.has(requestId) || this.#inFlight.size >= this.#parts.limits.commandsInFlight) {
      return this.#refuse('too_many_in_flight')
    }
    if (!this.#budget.take(performance.now())) return this.#reply(requestId, refusal('rate_limited'), 'unknown')
    const command = readCommand(frame)
    if (command.kind === 'invalid') return this.#reply(requestId, { ok: false, error: command.error }, 'unknown')
    void this.#execute(requestId, command, caller)
  }

  async #execute(
    requestId: string,
    { operation, input }: { readonly operation: string; readonly input: JsonObject },
    caller: Caller,
  ): Promise<void> {
    this.#inFlight.add(requestId)
    let reply: Reply
    try {
      reply = await this.#parts.host.execute(operation, input, caller, progress => {
        const frame: ProgressFrame = { requestId, progress }
        if (this.#inFlight.has(requestId)) this.#sendText(JSON.stringify(frame))
      })
    } catch (error) {
      this.#parts.logger.error(
        { err: error, operation: countedName(operation), code: 'internal_failure' },
        'a command threw',
      )
      reply = refusal('internal_failure')
    }
    this.#inFlight.delete(requestId)
    this.#reply(requestId, reply, countedName(operation))
  }

  #reply(requestId: string, reply: Reply, kind: string) {
    this.#parts.metrics.commandsTotal.add(kind, reply.ok ? 'ok' : reply.error.code)
    if (this.#outbound.isClosed) return
    const text = JSON.stringify({ requestId, ...reply } satisfies ReplyFrame)
    if (text.length <= this.#parts.limits.outboundCloseBytes / 2) return this.#sendText(text)
    this.#sendText(JSON.stringify({ requestId, ...refusal('too_large') }))
  }

  #receiveControl(frame: JsonObject) {
    const { kind, id } = frame
    if (kind === 'bye') return this.close(CLOSE_CODES.normal, 'bye')
    if ((kind !== 'ping' && kind !== 'pong') || !Number.isSafeInteger(id)) return this.#refuse('malformed')
    if (kind === 'ping' && this.#budget.take(performance.now())) {
      this.#send({ kind: 'pong', id: id as number, at: Date.now() })
    }
  }

  #receiveHello(frame: JsonObject) {
    const outcome = readHello(frame)
    if (outcome.kind === 'malformed') return this.#refuse('malformed')
    if (outcome.kind === 'incompatible') {
      this.#send(outcome.frame)
      return this.#refuse('incompatible')
    }
    const { host, credentials } = this.#parts
    if (host.state === 'draining') {
      this.#send({ kind: 'draining' })
      return this.#refuse('draining')
    }
    const { hello, protocol } = outcome
    if (this.#entrance.transport === 'socket' || this.#credential) return this.#accept(hello, protocol)
    const credential = credentials.findByKeyId(hello.keyId)
    if (!credential) return this.#refuse('unauthorized')
    const { rootId, hostEpoch } = host
    const { address } = this.#entrance
    const challenge = makeChallenge(credential, { protocol, rootId, hostEpoch, clientNonce: hello.nonce, address })
    this.#phase = { kind: 'proof', hello, challenge }
    this.#send(challenge.frame)
  }

  #receiveProof(frame: JsonObject, { hello, challenge }: Extract<Phase, { kind: 'proof' }>) {
    const isStillValid = this.#parts.credentials.find(challenge.credential.id) === challenge.credential
    if (!answersChallenge(frame, challenge) || !isStillValid) return this.#refuse('unauthorized')
    this.#credential = challenge.credential
    this.#credential.lastSeenAt = Date.now()
    this.#accept(hello, challenge.frame.protocol)
  }

  #accept(hello: HelloFrame, protocol: number): void {
    const { host, roster, credentials, metrics } = this.#parts
    const credential = this.#credential ?? credentials.find(ROOT_CREDENTIAL_ID)
    const connectionId = randomUUID()
    const actor = { surface: hello.surface, clientInstanceId: hello.clientInstanceId }
    const scope = this.#credential?.scope ?? 'full'
    const ticket = makeTicket(credential?.keyHash ?? randomBytes(32), connectionId, host.hostEpoch)
    const entry: RosterEntry = {
      connectionId,
      actor,
      scope,
      credentialId: credential?.id ?? ROOT_CREDENTIAL_ID,
      ticket,
    }
    this.#phase = { kind: 'open', entry, caller: { actor, connectionId, scope } }
    this.#entrance.stay.admit()
    roster.add(entry)
    metrics.handshakesTotal.add('accepted')
    const { rootId, hostEpoch, state } = host
    const serverVersion = VERSION
    const at = Date.now()
    this.#send({ kind: 'accepted', rootId, hostEpoch, connectionId, protocol, state, serverVersion, ticket, at })
  }

  #expire(cause: 'time' | 'bytes'): void {
    this.#refuse(cause === 'time' ? 'hello_timeout' : 'too_large')
  }

  /** Closes with the code of this name; the retry codes say after how long. */
  #refuse(name: CloseName): void {
    if (this.#phase.kind !== 'open') this.#parts.metrics.handshakesTotal.add(name)
    const code = CLOSE_CODES[name]
    this.close(code, code >= 4500 ? retryReason(name, this.#parts.limits.drainRetryMs) : name)
  }

  #leave(): void {
    this.#leaveRoster()
    this.#phase = { kind: 'closed' }
    this.#outbound.abandon()
    this.#inFlight.clear()
    this.#parts.links.delete(this)
    this.#parts.heartbeat.remove(this)
  }

  /** A client that left is not counted any more before it learns so. Source: V12. */
  #leaveRoster(): void {
    if (this.#phase.kind === 'open') this.#parts.roster.remove(this.#phase.entry)
  }

  #send(frame: LeaderFrame | { readonly kind: 'draining' }): void {
    this.#sendText(JSON.stringify(frame))
  }

  #sendText(text: string): void {
    this.#outbound.send(Buffer.from(text))
  }
}

function refusal(code: WireErrorCode): Reply & { ok: false } {
  return { ok: false, error: { code, message: ERRORS[code].meaning } }
}
