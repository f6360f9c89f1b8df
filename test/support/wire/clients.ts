import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { connect, type Socket } from 'node:net'
import { type ClientOptions, WebSocket } from 'ws'
import { waitFor, within } from '../wait-for.ts'
import type { TestLeader } from './test-leader.ts'

/** Where a client dials: the socket, or TCP. */
export type Way = 'socket' | 'tcp'

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** One HTTP request; the address is the leader's own unless a header says otherwise. */
export async function fetchFrom(
  leader: TestLeader,
  way: Way,
  path: string,
  options: {
    readonly method?: string
    readonly headers?: Record<string, string>
    readonly body?: string | Buffer
  } = {},
): Promise<Answer> {
  const place = way === 'socket' ? { socketPath: leader.socketPath } : { host: '127.0.0.1', port: leader.port }
  const { method = 'GET', headers = {}, body } = options
  const request = httpRequest({ ...place, path, method, headers, agent: false })
  request.end(body)
  const [response] = await within(once(request, 'response'), 5_000, `the answer to ${method} ${path}`)
  let text = ''
  response.setEncoding('utf8')
  for await (const piece of response) text += piece
  return { status: response.statusCode, headers: response.headers, body: text }
}

/** A WebSocket client that keeps everything it was sent. */
export interface TestSocket {
  readonly ws: WebSocket
  /** Text frames, parsed. */
  readonly frames: Record<string, unknown>[]
  /** Binary messages. */
  readonly messages: Buffer[]
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>
  send(frame: unknown): void
  /** The first text frame that fits, from the beginning. */
  frame(fits: (frame: Record<string, unknown>) => boolean, what?: string): Promise<Record<string, unknown>>
}

/** The WebSocket address of a path. */
export function wsUrl(leader: TestLeader, way: Way, path: string): string {
  return way === 'socket' ? `ws+unix:${leader.socketPath}:${path}` : `ws://127.0.0.1:${leader.port}${path}`
}

/** Opens a WebSocket; rejects with the status in its message if it is refused. */
export async function dial(
  leader: TestLeader,
  way: Way,
  path: string,
  { protocols = [], ...options }: ClientOptions & { readonly protocols?: string[] } = {},
): Promise<TestSocket> {
  const ws = new WebSocket(wsUrl(leader, way, path), protocols, options)
  const frames: Record<string, unknown>[] = []
  const messages: Buffer[] = []
  ws.on('message', (bytes: Buffer, isBinary) => {
    if (isBinary) messages.push(bytes)
    else frames.push(JSON.parse(bytes.toString()))
  })
  const closed = new Promise<{ code: number; reason: string }>(resolve => {
    ws.on('close', (code, reason) => resolve({ code, reason: reason.toString() }))
  })
  await within(once(ws, 'open'), 5_000, `the opening of ${path}`)
  ws.on('error', () => {})
  return {
    ws,
    frames,
    messages,
    closed: within(closed, 15_000, `the close of ${path}`),
    send: frame => ws.send(typeof frame === 'string' || Buffer.isBuffer(frame) ? frame : JSON.stringify(frame)),
    frame: (fits, what = fits.toString()) => waitFor(() => frames.find(fits), { what, deadlineMs: 5_000, everyMs: 2 }),
  }
}

/** A hello as a client of this version sends it. */
export function hello(changed: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    kind: 'hello',
    protocol: { min: 1, max: 1 },
    surface: 'test',
    clientInstanceId: 'client-1',
    version: '0.1.0',
    nonce: randomBytes(32).toString('base64url'),
    ...changed,
  }
}

/** A command connection on the socket whose hello was accepted. */
export async function openCommands(
  leader: TestLeader,
  changed: Record<string, unknown> = {},
): Promise<TestSocket & { readonly accepted: Record<string, unknown> }> {
  const socket = await dial(leader, 'socket', '/v1/commands')
  socket.send(hello(changed))
  const accepted = await socket.frame(frame => frame.kind === 'accepted')
  return { ...socket, accepted }
}

/** Sends one command and gives its reply. */
export async function ask(
  socket: TestSocket,
  operation: string,
  input: unknown = {},
): Promise<Record<string, unknown>> {
  const requestId = randomBytes(6).toString('hex')
  socket.send({ requestId, operation, input })
  return socket.frame(frame => frame.requestId === requestId && 'ok' in frame, `the reply to ${operation}`)
}

/** A raw connection that keeps all bytes it gets. */
export interface RawSocket {
  readonly socket: Socket
  readonly received: () => Buffer
  readonly ended: Promise<void>
}

/** Dials without any protocol. */
export async function dialRaw(leader: TestLeader, way: Way): Promise<RawSocket> {
  const socket = way === 'socket' ? connect(leader.socketPath) : connect(leader.port, '127.0.0.1')
  let received = Buffer.alloc(0)
  socket.on('data', piece => {
    received = Buffer.concat([received, piece])
  })
  socket.on('error', () => {})
  const ended = new Promise<void>(resolve => socket.once('close', () => resolve()))
  await once(socket, 'connect')
  return { socket, received: () => received, ended: within(ended, 15_000, 'the end of a raw connection') }
}

/** The request that asks for an upgrade, as text. */
export function upgradeText(leader: TestLeader, path: string, headers: Record<string, string> = {}): string {
  const all = {
    Host: `127.0.0.1:${leader.port}`,
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
    ...headers,
  }
  return `GET ${path} HTTP/1.1\r\n${Object.entries(all)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`
}

/** One masked client frame, whatever its header says. */
export function clientFrame(opcode: number, payload: Uint8Array, isLast = true): Buffer {
  const mask = randomBytes(4)
  const length = payload.length
  const head =
    length < 126
      ? Buffer.from([(isLast ? 0x80 : 0) | opcode, 0x80 | length])
      : length < 65_536
        ? Buffer.from([(isLast ? 0x80 : 0) | opcode, 0x80 | 126, length >> 8, length & 0xff])
        : Buffer.concat([Buffer.from([(isLast ? 0x80 : 0) | opcode, 0x80 | 127]), sixtyFourBits(length)])
  return Buffer.concat([head, mask, Buffer.from(payload.map((byte, index) => byte ^ mask[index % 4]!))])
}

/** The code of the close frame among the short frames that came after the upgrade. */
export function closeCodeOf(raw: RawSocket): number | undefined {
  const bytes = raw.received()
  let at = bytes.indexOf('\r\n\r\n', bytes.indexOf('101 Switching')) + 4
  while (at + 4 <= bytes.length) {
    const length = bytes[at + 1]!
    if (bytes[at] === 0x88) return bytes.readUInt16BE(at + 2)
    at += length < 126 ? 2 + length : 4 + bytes.readUInt16BE(at + 2)
  }
  return undefined
}

function sixtyFourBits(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(value))
  return bytes
}
