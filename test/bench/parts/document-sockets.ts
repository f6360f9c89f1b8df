import { once } from 'node:events'
import type { WebSocket } from 'ws'
import { encodeSyncStep1, readLeaderSyncMessage, SUBPROTOCOL } from '../../../schema/wire/sync.ts'
import { openSocket, socketUrl } from './sockets.ts'

const EMPTY_STATE_VECTOR = new Uint8Array([0])
/** An update without content is two bytes; the leader sends it when it has been silent. */
const EMPTY_UPDATE_BYTES = 2

/** A bare follower of a session's document, synced once, and the size of what the first sync brought. */
export interface DocumentSocket {
  readonly socket: WebSocket
  readonly syncBytes: number
}

/** Opens a bare socket on a session's document over the leader's Unix socket and syncs from nothing. */
export async function followDocument(socketPath: string, sessionId: string): Promise<DocumentSocket> {
  const socket = await openSocket(socketUrl(socketPath, `/v1/sync/session/${sessionId}`), [SUBPROTOCOL])
  socket.send(encodeSyncStep1(EMPTY_STATE_VECTOR))
  for (;;) {
    const [message] = (await once(socket, 'message')) as [Buffer]
    const read = readLeaderSyncMessage(message)
    if (read.kind === 'sync_step_2') return { socket, syncBytes: message.byteLength }
  }
}

/** True for a message that changes the document. */
export function isChange(message: Buffer): boolean {
  const read = readLeaderSyncMessage(message)
  return read.kind === 'update' && read.update.byteLength > EMPTY_UPDATE_BYTES
}
