// A stand-in for `headwater serve`, as far as discovery and spawning see it: one owner by an exclusive file, a marker, a registration,
// and a socket that accepts hellos. What it does beside is told by CANDIDATE_MODE.
import { randomUUID } from 'node:crypto'
import { mkdirSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { WebSocketServer } from 'ws'

const root = process.argv[process.argv.indexOf('--root') + 1]
const mode = process.env.CANDIDATE_MODE ?? ''

function refuse(code, message) {
  process.stdout.write(`${JSON.stringify({ ok: false, error: { code, message, retry: 'never' } })}\n`)
  process.exit(3)
}

mkdirSync(root, { recursive: true })
writeSync(openSync(join(root, 'launches'), 'a'), `${process.pid}\n`)
if (mode === 'refuse') refuse('root_not_empty', 'choose an empty one')
if (mode === 'crash') process.exit(1)
try {
  writeFileSync(join(root, 'owner'), String(process.pid), { flag: 'wx' })
} catch {
  refuse('root_owned', 'another leader owns it')
}
let rootId = 'c'.repeat(64)
try {
  rootId = JSON.parse(readFileSync(join(root, 'headwater.json'), 'utf8')).rootId
} catch {
  writeFileSync(join(root, 'headwater.json'), JSON.stringify({ rootId }))
}
const hostEpoch = randomUUID()
const folder = join(process.env.XDG_RUNTIME_DIR, 'headwater', rootId.slice(0, 16))
const socketPath = join(root, `${process.pid}.sock`)
mkdirSync(folder, { recursive: true })
const server = createServer()
const sockets = new WebSocketServer({ server, handleProtocols: () => 'headwater.v1' })
sockets.on('connection', ws => {
  ws.on('message', data => {
    const frame = JSON.parse(String(data))
    const send = value => ws.send(JSON.stringify(value))
    if (frame.kind === 'hello') {
      const connectionId = randomUUID()
      send({
        kind: 'accepted',
        rootId,
        hostEpoch,
        connectionId,
        protocol: 1,
        state: 'ready',
        serverVersion: '0',
        ticket: 't',
      })
    } else if (frame.kind === 'ping') send({ kind: 'pong', id: frame.id, at: Date.now() })
    else if (frame.kind === 'bye') ws.close(1000, 'bye')
    else if (frame.operation === 'host.shutdown') {
      rmSync(join(root, 'owner'))
      process.exit(0)
    }
  })
})
server.listen(socketPath, () => {
  const registration = {
    rootId,
    hostEpoch,
    url: null,
    socketPath,
    pid: process.pid,
    protocol: { min: 1, max: 1 },
    state: 'ready',
    createdAt: Date.now(),
  }
  writeFileSync(join(folder, 'leader.json'), JSON.stringify(registration))
})
// Ends by itself, whatever becomes of the test.
setTimeout(() => process.exit(0), 30_000)
