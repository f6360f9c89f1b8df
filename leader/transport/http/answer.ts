import type { IncomingMessage, ServerResponse } from 'node:http'
import { ERRORS, type ErrorCode } from '../../../schema/errors.ts'
import type { Reply } from '../host-port.ts'

/** On every answer: nothing is sniffed, kept or embedded. */
const INERT_HEADERS = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
} as const

/** An answer of plain text. */
export function answerText(response: ServerResponse, status: number, text: string, contentType = 'text/plain'): void {
  const body = Buffer.from(text)
  response.writeHead(status, {
    ...INERT_HEADERS,
    'content-type': `${contentType}${contentType.includes('charset') ? '' : '; charset=utf-8'}`,
    'content-length': body.length,
  })
  response.end(body)
}

function answerJson(response: ServerResponse, status: number, value: unknown): void {
  answerText(response, status, JSON.stringify(value), 'application/json')
}

/** A reply in its envelope, with the status of its error code. Source: W5, interfaces 4. */
export function answerReply(response: ServerResponse, reply: Reply): void {
  answerJson(response, reply.ok ? 200 : statusOf(reply.error.code), reply)
}

/** A refusal that the transport makes itself. */
export function refuse(response: ServerResponse, code: ErrorCode, message?: string, status?: number): void {
  answerJson(response, status ?? statusOf(code), {
    ok: false,
    error: { code, message: message ?? ERRORS[code].meaning },
  })
}

/** A refusal after which the connection ends, so that a body is not waited for. */
export function refuseAndClose(response: ServerResponse, code: ErrorCode, status?: number): void {
  response.setHeader('connection', 'close')
  refuse(response, code, undefined, status)
}

/** Headers of a streamed answer that a browser must neither run nor show as a page. */
export function attachmentHeaders(mimeType: string, bytes: number): Record<string, string | number> {
  const isPlainType = /^[\w.+-]+\/[\w.+-]+(; ?charset=[\w-]+)?$/.test(mimeType)
  return {
    ...INERT_HEADERS,
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    'content-disposition': 'attachment',
    'content-type': isPlainType ? mimeType : 'application/octet-stream',
    'content-length': bytes,
  }
}

/**
 * The body, or undefined if it is over `maxBytes`. A body a little over is read to its end and dropped, so that its sender gets to
 * read the refusal. Rejects if the client goes away.
 */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of bodyPieces(request)) {
    bytes += piece.length
    if (bytes > 4 * maxBytes) return undefined
    if (bytes <= maxBytes) pieces.push(piece)
    else pieces.length = 0
  }
  return bytes > maxBytes ? undefined : Buffer.concat(pieces)
}

/** The pieces of a body; leaving the loop early leaves the connection open for the answer. */
export function bodyPieces(request: IncomingMessage): AsyncIterable<Buffer> {
  return { [Symbol.asyncIterator]: () => request.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer> }
}

function statusOf(code: string): number {
  return Object.hasOwn(ERRORS, code) ? ERRORS[code as ErrorCode].http : 500
}
