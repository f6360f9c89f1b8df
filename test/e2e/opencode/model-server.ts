import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const REQUEST_BYTES = 8 * 1024 * 1024

/** What the scripted model does with one request: say something in pieces, or call one tool. */
export type ModelStep =
  | { readonly kind: 'say'; readonly pieces: readonly string[]; readonly pieceIntervalMs?: number }
  | { readonly kind: 'call'; readonly tool: string; readonly arguments: Readonly<Record<string, unknown>> }

/**
 * One chat-completions request as far as a script looks at it. `lastUser` is the newest user text, `earlierUsers` those before it, oldest
 * first, `afterTool` whether tool results follow it.
 */
export interface ModelRequest {
  readonly lastUser: string
  readonly earlierUsers: readonly string[]
  readonly afterTool: boolean
  readonly tools: readonly string[]
}

/** An OpenAI-compatible chat-completions server on loopback that answers by a script. `requests` are those that offered tools. */
export interface ModelServer {
  readonly baseUrl: string
  readonly requests: readonly ModelRequest[]
  close(): Promise<void>
}

interface ChatMessage {
  readonly role: string
  readonly content: string | readonly { readonly type: string; readonly text?: string }[] | null
}

interface ChatBody {
  readonly messages: readonly ChatMessage[]
  readonly tools?: readonly { readonly function: { readonly name: string } }[]
}

/** Starts the model on a free port. Requests without tools (titles, summaries) get a fixed short text. */
export async function startModelServer(script: (request: ModelRequest) => ModelStep): Promise<ModelServer> {
  const requests: ModelRequest[] = []
  const server = createServer((request, response) => {
    answer(request, response, script, requests).catch(error => {
      response.statusCode = 500
      response.end(JSON.stringify({ error: { message: String(error) } }))
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  script: (request: ModelRequest) => ModelStep,
  requests: ModelRequest[],
): Promise<void> {
  const body = JSON.parse(await readBody(request)) as ChatBody
  const seen = readRequest(body)
  const isMain = seen.tools.length > 0
  if (isMain) requests.push(seen)
  const step: ModelStep = isMain ? script(seen) : { kind: 'say', pieces: ['A scripted session'] }
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  if (step.kind === 'say') await say(response, step.pieces, step.pieceIntervalMs ?? 0)
  else call(response, step, requests.length)
  response.end('data: [DONE]\n\n')
}

async function readBody(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length
    if (bytes > REQUEST_BYTES) throw new Error('the request is too large')
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

function readRequest(body: ChatBody): ModelRequest {
  const lastUserAt = body.messages.findLastIndex(message => message.role === 'user')
  const earlier = body.messages.slice(0, Math.max(0, lastUserAt)).filter(message => message.role === 'user')
  return {
    lastUser: readText(body.messages[lastUserAt]),
    earlierUsers: earlier.map(readText),
    afterTool: body.messages.slice(lastUserAt + 1).some(message => message.role === 'tool'),
    tools: (body.tools ?? []).map(tool => tool.function.name),
  }
}

function readText(message: ChatMessage | undefined): string {
  const content = message?.content ?? ''
  return typeof content === 'string' ? content : content.map(part => part.text ?? '').join('\n')
}

function send(response: ServerResponse, delta: object, finishReason: string | null): void {
  const chunk = {
    id: 'chatcmpl-scripted',
    object: 'chat.completion.chunk',
    created: 0,
    model: 'scripted',
    choices: [{ index: 0, delta, finish_reason: finishReason }],
    ...(finishReason === null ? {} : { usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 } }),
  }
  response.write(`data: ${JSON.stringify(chunk)}\n\n`)
}

async function say(response: ServerResponse, pieces: readonly string[], pieceIntervalMs: number): Promise<void> {
  send(response, { role: 'assistant', content: '' }, null)
  for (const piece of pieces) {
    if (response.destroyed) return
    send(response, { content: piece }, null)
    if (pieceIntervalMs > 0) await new Promise(resolve => setTimeout(resolve, pieceIntervalMs))
  }
  send(response, {}, 'stop')
}

function call(response: ServerResponse, step: Extract<ModelStep, { kind: 'call' }>, ordinal: number): void {
  send(response, { role: 'assistant', content: null }, null)
  const invocation = { name: step.tool, arguments: JSON.stringify(step.arguments) }
  send(response, { tool_calls: [{ index: 0, id: `call_${ordinal}`, type: 'function', function: invocation }] }, null)
  send(response, {}, 'tool_calls')
}
