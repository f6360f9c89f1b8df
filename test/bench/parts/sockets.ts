import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { WebSocket } from 'ws'

const FLOOR_SERVER = fileURLToPath(new URL('./floor-server.ts', import.meta.url))
const OPENED_AT_ONCE = 50

/** The address of a route on a Unix socket, as the `ws` library reads it. */
export function socketUrl(socketPath: string, route: string): string {
  return `ws+unix:${socketPath}:${route}`
}

/** An open WebSocket. */
export async function openSocket(url: string, protocols: readonly string[] = []): Promise<WebSocket> {
  const socket = new WebSocket(url, [...protocols], { perMessageDeflate: false, maxPayload: 64 * 1024 * 1024 })
  socket.binaryType = 'nodebuffer'
  await once(socket, 'open')
  return socket
}

/** Many open WebSockets; a few are opened at a time. */
export async function openSockets(count: number, open: () => Promise<WebSocket>): Promise<readonly WebSocket[]> {
  const sockets: WebSocket[] = []
  while (sockets.length < count) {
    const batch = Math.min(OPENED_AT_ONCE, count - sockets.length)
    sockets.push(...(await Promise.all(Array.from({ length: batch }, open))))
  }
  return sockets
}

/** The floor's server, in a process of its own. */
export interface FloorServer {
  readonly url: string
  readonly socketPath: string
  close(): Promise<void>
}

/** Starts the floor's server with its socket in this directory. */
export async function startFloorServer(directory: string): Promise<FloorServer> {
  const socketPath = join(directory, 'floor.sock')
  rmSync(socketPath, { force: true })
  const child: ChildProcess = spawn(process.execPath, ['--import', 'tsx', FLOOR_SERVER, socketPath], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (child.stdout === null) throw new Error('the floor server has no stdout')
  await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(() => Promise.reject(new Error('the floor server ended'))),
  ])
  return {
    url: socketUrl(socketPath, '/'),
    socketPath,
    close: async () => {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** Resolves when every socket has received a message that counts. Listen before what causes it. */
export function allReceive(sockets: readonly WebSocket[], counts: (message: Buffer) => boolean): Promise<void> {
  return new Promise(resolve => {
    let missing = sockets.length
    for (const socket of sockets) {
      const onMessage = (message: Buffer): void => {
        if (!counts(message)) return
        socket.off('message', onMessage)
        missing -= 1
        if (missing === 0) resolve()
      }
      socket.on('message', onMessage)
    }
  })
}

/** Closes sockets and waits until they are closed. */
export async function closeSockets(sockets: readonly WebSocket[]): Promise<void> {
  await Promise.all(
    sockets.map(async socket => {
      const closed = once(socket, 'close')
      socket.terminate()
      await closed
    }),
  )
}
