import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { connect } from 'node:net'
import type { ClientOptions, WebSocket } from 'ws'
import { LIMITS } from '../../../schema/limits.ts'
import type { Endpoint, HttpAnswer, HttpDownload, HttpRequest } from '../ports.ts'
import { openWebSocket } from './socket.ts'

type WebSocketClass = typeof WebSocket

const SOCKET_OPTIONS: ClientOptions = {
  perMessageDeflate: false,
  maxPayload: LIMITS.leaderMessageBytes,
  handshakeTimeout: LIMITS.deadLinkMs,
  followRedirects: false,
}

/** A leader behind a Unix socket or named pipe: local, the operating system vouches for both sides. Source: W1. */
export async function localEndpoint(socketPath: string, rootId?: string): Promise<Endpoint> {
  const { WebSocket } = await import('ws')
  // A connection of our own: the `ws+unix:` form cannot hold a path with a colon.
  const options: ClientOptions = { ...SOCKET_OPTIONS, createConnection: () => connect(socketPath) }
  return {
    address: 'localhost',
    isLocal: true,
    ...(rootId === undefined ? {} : { rootId }),
    open: (path, protocols, events) =>
      openWebSocket(new (WebSocket as WebSocketClass)(`ws://localhost${path}`, [...protocols], options), events),
    http: request => send(httpRequest, { socketPath, host: 'localhost' }, request),
    download: request => receive(httpRequest, { socketPath, host: 'localhost' }, request),
  }
}

/** A leader behind a URL: both sides prove themselves before anything is said. Source: Z3. */
export async function tcpEndpoint(url: URL): Promise<Endpoint> {
  const { WebSocket } = await import('ws')
  const isSecure = url.protocol === 'https:' || url.protocol === 'wss:'
  const base = `${isSecure ? 'wss' : 'ws'}://${url.host}`
  const port = url.port === '' ? {} : { port: Number(url.port) }
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  return {
    address: url.host,
    isLocal: false,
    open: (path, protocols, events) =>
      openWebSocket(new (WebSocket as WebSocketClass)(`${base}${path}`, [...protocols], SOCKET_OPTIONS), events),
    http: request => send(isSecure ? httpsRequest : httpRequest, { host, ...port }, request),
    download: request => receive(isSecure ? httpsRequest : httpRequest, { host, ...port }, request),
  }
}

type Target = { readonly host: string; readonly port?: number; readonly socketPath?: string }

function send(request: typeof httpRequest, target: Target, sent: HttpRequest): Promise<HttpAnswer> {
  const { method, path, body } = sent
  const headers = body === undefined ? sent.headers : { ...sent.headers, 'content-length': String(body.length) }
  return new Promise((resolve, reject) => {
    const asked = request(
      { ...target, method, path, headers, agent: false, timeout: LIMITS.connectDeadlineMs },
      answer => {
        const pieces: Buffer[] = []
        let bytes = 0
        answer.on('data', (piece: Buffer) => {
          bytes += piece.length
          if (bytes > LIMITS.httpAnswerBytes) asked.destroy(new RangeError('the answer is over its limit'))
          else pieces.push(piece)
        })
        answer.on('error', reject)
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(pieces).toString('utf8') }),
        )
      },
    )
    asked.on('error', reject)
    asked.on('timeout', () => asked.destroy(new Error('the leader does not answer')))
    asked.end(body)
  })
}

/** The answer is a stream: it is read no faster than it is taken. */
function receive(
  request: typeof httpRequest,
  target: Target,
  { method, path, headers }: HttpRequest,
): Promise<HttpDownload> {
  return new Promise((resolve, reject) => {
    const asked = request(
      { ...target, method, path, headers, agent: false, timeout: LIMITS.connectDeadlineMs },
      answer => resolve({ status: answer.statusCode ?? 0, pieces: answer }),
    )
    asked.on('error', reject)
    asked.on('timeout', () => asked.destroy(new Error('the leader does not answer')))
    asked.end()
  })
}
