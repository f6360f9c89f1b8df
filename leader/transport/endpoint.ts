import { chmodSync, lstatSync, rmSync } from 'node:fs'
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http'
import { createServer as createNetServer, type ListenOptions, type Server as NetServer, type Socket } from 'node:net'
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls'
import type { WebSocketServer } from 'ws'
import { HeadwaterError } from '../../schema/errors.ts'
import { Door, type Stay } from './door.ts'
import type { GateLists } from './http/gate.ts'
import { HttpConnection } from './http/http-connection.ts'
import { serveRequest } from './http/routes.ts'
import type { TransportParts } from './parts.ts'
import { createWebSocketServer, serveUpgrade } from './upgrade.ts'

/** Certificate chain and key, as PEM. */
export interface TlsKeys {
  readonly cert: string | Buffer
  readonly key: string | Buffer
}

/** Where an endpoint listens. `lists` gives the names it answers to, once its port is known. */
export interface EndpointPlace {
  readonly listen: ListenOptions
  readonly tls?: TlsKeys
  readonly lists: (port: number) => GateLists
}

/**
 * One HTTP server with its WebSockets, behind its own door.
 *
 *   net server ──▶ door (Z5) ──▶ TLS if any ──▶ HTTP parser ──▶ routes │ upgrade
 */
export class Endpoint {
  readonly #parts: TransportParts
  readonly #place: EndpointPlace
  readonly #server: NetServer
  readonly #http: HttpServer
  readonly #webSockets: WebSocketServer
  readonly #door: Door<Socket>
  readonly #secureContext: SecureContext | undefined
  readonly #sockets = new Set<Socket>()
  readonly #connections = new Map<object, HttpConnection>()
  #lists: GateLists
  #isClosing = false

  constructor(parts: TransportParts, place: EndpointPlace) {
    const { limits } = parts
    this.#parts = parts
    this.#place = place
    this.#lists = place.lists(0)
    this.#secureContext = place.tls && createSecureContext({ ...place.tls, minVersion: 'TLSv1.2' })
    this.#webSockets = createWebSocketServer(limits)
    this.#door = new Door(limits, (socket, stay) => this.#serve(socket, stay))
    this.#http = this.#openHttp()
    this.#server = createNetServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true }, socket => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
      this.#door.arrive(socket)
    })
  }

  /** The port it listens on; 0 on a socket path. */
  get port(): number {
    const address = this.#server.address()
    return address !== null && typeof address === 'object' ? address.port : 0
  }

  /** Resolves when it listens; rejects with `port_busy` if the port is taken. */
  async open(): Promise<void> {
    const { path, port } = this.#place.listen
    if (path !== undefined) removeStaleSocket(path)
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (error: NodeJS.ErrnoException) => {
        reject(error.code === 'EADDRINUSE' && path === undefined ? portBusy(port) : error)
      })
      this.#server.listen(this.#place.listen, () => {
        this.#lists = this.#place.lists(this.port)
        resolve()
      })
    })
    this.#server.on('error', error => this.#parts.logger.error({ err: error }, 'an endpoint failed'))
    if (path !== undefined && process.platform !== 'win32') chmodSync(path, 0o600)
  }

  /** Stops accepting. The promise resolves when the last connection is gone. */
  stop(): Promise<void> {
    this.#isClosing = true
    const closed = new Promise<void>(resolve => this.#server.close(() => resolve()))
    this.#door.close()
    for (const connection of this.#connections.values()) if (connection.isIdle) connection.socket.destroy()
    return closed
  }

  /** Cuts what is still connected. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  #openHttp(): HttpServer {
    const { preAuthBytes, helloTimeoutMs } = this.#parts.limits
    const server = createHttpServer({
      maxHeaderSize: preAuthBytes,
      headersTimeout: helloTimeoutMs,
      insecureHTTPParser: false,
    })
    server.on('request', (request, response) => {
      const connection = this.#connections.get(request.socket)
      if (!connection) return void request.socket.destroy()
      response.once('close', () => {
        if (this.#isClosing) connection.socket.destroy()
      })
      void serveRequest(this.#parts, this.#lists, connection, { request, response })
    })
    server.on('upgrade', (request, socket, head) => {
      const connection = this.#connections.get(socket)
      if (!connection || this.#isClosing) return void socket.destroy()
      this.#connections.delete(socket)
      const listener = { lists: this.#lists, webSockets: this.#webSockets }
      serveUpgrade(this.#parts, listener, connection, { request, socket, head })
    })
    return server
  }

  #serve(raw: Socket, stay: Stay): void {
    const socket = this.#secureContext ? secure(raw, this.#secureContext) : raw
    this.#connections.set(socket, new HttpConnection(socket, stay, this.#parts.limits))
    socket.once('close', () => this.#connections.delete(socket))
    this.#http.emit('connection', socket)
    socket.resume()
  }
}

function secure(raw: Socket, secureContext: SecureContext): TLSSocket {
  const socket = new TLSSocket(raw, { isServer: true, secureContext, ALPNProtocols: ['http/1.1'] })
  socket.on('error', () => raw.destroy())
  return socket
}

/** The holder of the root replaces the endpoint that a killed leader left; anything but a socket stays. Source: R3. */
function removeStaleSocket(path: string): void {
  if (process.platform === 'win32') return
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found?.isSocket()) rmSync(path)
}

function portBusy(port: number | undefined): HeadwaterError {
  return new HeadwaterError('port_busy', undefined, { port: port ?? 0 })
}
