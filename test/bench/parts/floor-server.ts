import { createServer } from 'node:http'
import process from 'node:process'
import { type RawData, WebSocketServer } from 'ws'

/**
 * The least a WebSocket server can do, in a process of its own: sends every binary message back, and on the text `fan N` sends N bytes to
 * everybody else. Prints `ready` when it listens on the socket path given.
 */
const [path] = process.argv.slice(2)
if (path === undefined) throw new Error('usage: floor-server SOCKET')

const server = createServer()
const sockets = new WebSocketServer({ server, perMessageDeflate: false })
sockets.on('connection', socket => {
  socket.on('message', (data: RawData, isBinary: boolean) => {
    if (isBinary) return socket.send(data)
    const bytes = Buffer.alloc(Number(/^fan (\d+)$/.exec(data.toString())?.[1]))
    for (const other of sockets.clients) if (other !== socket) other.send(bytes)
  })
})
server.listen(path, () => process.stdout.write('ready\n'))
