import type { WebSocket } from 'ws'
import { LIMITS } from '../../../schema/limits.ts'
import { CLOSE_CODES } from '../../../schema/wire/close-codes.ts'
import type { ClientSocket, SocketEvents } from '../ports.ts'

/** Code of a socket that ended without one. */
const ABNORMAL = 1006

/** What a refusal before the upgrade amounts to. */
const CODE_OF_STATUS: Readonly<Record<number, number>> = {
  401: CLOSE_CODES.unauthorized,
  404: CLOSE_CODES.not_found,
  426: CLOSE_CODES.incompatible,
}

/** A `ws` socket as the client sees one: reports its end once, whatever it ended by. */
export function openWebSocket(ws: WebSocket, events: SocketEvents): ClientSocket {
  let isEnded = false
  let cause = ''
  const end = (code: number, reason: string): void => {
    if (isEnded) return
    isEnded = true
    events.close(code, reason)
  }
  ws.on('open', () => {
    if (!isEnded) events.open()
  })
  ws.on('message', (bytes: Buffer, isBinary: boolean) => {
    if (!isEnded) events.message(isBinary ? bytes : bytes.toString('utf8'))
  })
  ws.on('error', error => {
    cause = error.message
  })
  ws.on('unexpected-response', (_request, response) => {
    response.resume()
    end(CODE_OF_STATUS[response.statusCode ?? 0] ?? ABNORMAL, `HTTP ${response.statusCode}`)
    ws.terminate()
  })
  ws.on('close', (code, reason) => end(code, reason.length > 0 ? reason.toString('utf8') : cause))
  return {
    send(message) {
      if (ws.readyState === ws.OPEN) ws.send(message)
    },
    close(code, reason) {
      // A socket that was not open yet has nobody to say goodbye to.
      if (ws.readyState !== ws.OPEN) return ws.terminate()
      ws.close(code, reason)
      setTimeout(() => ws.terminate(), LIMITS.closeConfirmMs).unref()
    },
    abort: () => ws.terminate(),
  }
}
