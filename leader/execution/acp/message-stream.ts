import type { Readable, Writable } from 'node:stream'
import { type AnyMessage, methods, type Stream } from '@agentclientprotocol/sdk'
import { LIMITS } from '../../../schema/limits.ts'

const LINE_FEED = 0x0a

/** What a message stream is made of. `onUpdate` is given each `session/update` in order; while its promise is pending nothing more is read. */
export interface MessageStreamPorts {
  readonly stdin: Writable
  readonly stdout: Readable
  onUpdate(params: unknown, bytes: number): Promise<void> | undefined
  /** A line that is no message: it is dropped. */
  onNoise(bytes: number): void
}

/**
 * The messages of an agent's standard streams, one JSON object a line. Session updates are taken out before the protocol library sees
 * them: so they keep their place before the answer that ends their turn, and a reader that is behind holds up the agent. Other lines
 * (agents log to the wrong stream) are dropped without an answer, and so are answers to what was never asked.
 */
export function openMessageStream(ports: MessageStreamPorts): Stream {
  const asked = new Set<unknown>()
  const incoming = readMessages(ports, asked)
  const readable = new ReadableStream<AnyMessage>(
    {
      async pull(controller) {
        const next = await incoming.next()
        if (next.done) controller.close()
        else controller.enqueue(next.value)
      },
      cancel() {
        ports.stdout.destroy()
      },
    },
    { highWaterMark: 0 },
  )
  const writable = new WritableStream<AnyMessage>({
    write(message) {
      if ('method' in message && 'id' in message) asked.add(message.id)
      return writeLine(ports.stdin, `${JSON.stringify(message)}\n`)
    },
  })
  return { readable, writable }
}

function writeLine(stdin: Writable, line: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stdin.write(line, error => (error ? reject(error) : resolve()))
  })
}

async function* readMessages(ports: MessageStreamPorts, asked: Set<unknown>): AsyncGenerator<AnyMessage, void> {
  for await (const line of readLines(ports.stdout)) {
    const message = parseLine(line)
    if (message === null) {
      ports.onNoise(line.byteLength)
    } else if (message.method === methods.client.session.update) {
      await ports.onUpdate(message.params, line.byteLength)
    } else if ('method' in message || asked.delete(message.id)) {
      yield message as unknown as AnyMessage
    } else {
      ports.onNoise(line.byteLength)
    }
  }
}

async function* readLines(stdout: Readable): AsyncGenerator<Buffer, void> {
  let parts: Buffer[] = []
  let bytes = 0
  for await (const piece of stdout as AsyncIterable<Buffer>) {
    let from = 0
    for (let at = piece.indexOf(LINE_FEED); at >= 0; at = piece.indexOf(LINE_FEED, from)) {
      parts.push(piece.subarray(from, at))
      yield parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)
      parts = []
      bytes = 0
      from = at + 1
    }
    if (from === piece.length) continue
    parts.push(piece.subarray(from))
    bytes += piece.length - from
    if (bytes > LIMITS.agentMessageBytes)
      throw new Error(`the agent sent a message over ${LIMITS.agentMessageBytes} bytes`)
  }
}

function parseLine(line: Buffer): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line.toString('utf8'))
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}
