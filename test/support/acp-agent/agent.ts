import { Readable, Writable } from 'node:stream'
import {
  type AgentContext,
  agent,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  RequestError,
} from '@agentclientprotocol/sdk'
import { appendPrompt, readPrompts } from './memory.ts'
import { playPrompt } from './prompts.ts'

/**
 * A small agent on standard input and output, for tests. `ACP_AGENT` is a comma-separated list of what it offers and how it behaves:
 * `load`, `resume` (sessions survive in files of the session's folder), `ignore-eof` (lives on without input and ignores SIGTERM),
 * `auth` (wants a login for a session), `slow-start` (never answers initialize), `models` (offers two).
 */
const traits = new Set((process.env.ACP_AGENT ?? '').split(','))
const sessions = new Map<string, { readonly cwd: string; cancel: AbortController }>()
let model = 'model-a'

if (traits.has('ignore-eof')) {
  process.on('SIGTERM', () => {})
  setInterval(() => {}, 60_000)
}

function modelOptions() {
  if (!traits.has('models')) return undefined
  const options = ['model-a', 'model-b'].map(value => ({ value, name: value }))
  return [{ id: 'model', name: 'Model', category: 'model', type: 'select' as const, currentValue: model, options }]
}

function open(sessionId: string, cwd: string): void {
  sessions.set(sessionId, { cwd, cancel: new AbortController() })
}

async function replay(client: AgentContext, sessionId: string, cwd: string): Promise<void> {
  const send = (sessionUpdate: 'user_message_chunk' | 'agent_message_chunk', text: string): Promise<void> =>
    client.notify(methods.client.session.update, {
      sessionId,
      update: { sessionUpdate, content: { type: 'text', text } },
    })
  for (const text of readPrompts(cwd, sessionId)) {
    await send('user_message_chunk', text)
    await send('agent_message_chunk', `replayed: ${text}`)
  }
}

agent({ name: 'test-agent' })
  .onRequest(methods.agent.initialize, () => {
    if (traits.has('slow-start')) return new Promise<never>(() => {})
    return {
      protocolVersion: PROTOCOL_VERSION,
      agentCapabilities: {
        loadSession: traits.has('load'),
        sessionCapabilities: traits.has('resume') ? { resume: {} } : {},
      },
      authMethods: [{ id: 'login', name: 'Log in', description: 'Run `test-agent login`' }],
    }
  })
  .onRequest(methods.agent.session.new, ({ params }) => {
    if (traits.has('auth')) throw RequestError.authRequired()
    const sessionId = `ses_${process.pid}_${sessions.size + 1}`
    open(sessionId, params.cwd)
    return { sessionId, configOptions: modelOptions() }
  })
  .onRequest(methods.agent.session.load, async ({ params, client }) => {
    if (readPrompts(params.cwd, params.sessionId).length === 0) throw RequestError.resourceNotFound(params.sessionId)
    open(params.sessionId, params.cwd)
    await replay(client, params.sessionId, params.cwd)
    return { configOptions: modelOptions() }
  })
  .onRequest(methods.agent.session.resume, ({ params }) => {
    if (readPrompts(params.cwd, params.sessionId).length === 0) throw RequestError.resourceNotFound(params.sessionId)
    open(params.sessionId, params.cwd)
    return { configOptions: modelOptions() }
  })
  .onRequest(methods.agent.session.setConfigOption, ({ params }) => {
    model = String(params.value)
    return { configOptions: modelOptions() ?? [] }
  })
  .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
    const session = sessions.get(params.sessionId)
    if (session === undefined) throw RequestError.resourceNotFound(params.sessionId)
    session.cancel = new AbortController()
    const earlier = readPrompts(session.cwd, params.sessionId)
    const prompt = {
      sessionId: params.sessionId,
      blocks: params.prompt,
      earlier,
      model,
      cancelled: session.cancel.signal,
    }
    appendPrompt(session.cwd, params.sessionId, params.prompt)
    return playPrompt(prompt, client)
  })
  .onNotification(methods.agent.session.cancel, ({ params }) => {
    sessions.get(params.sessionId)?.cancel.abort()
  })
  .connect(
    ndJsonStream(
      Writable.toWeb(process.stdout) as WritableStream<Uint8Array>,
      Readable.toWeb(process.stdin) as unknown as ReadableStream<Uint8Array>,
    ),
  )
