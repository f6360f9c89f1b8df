import { execFile, spawn } from 'node:child_process'
import { closeSync, existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import {
  type AgentContext,
  type ContentBlock,
  methods,
  type PromptResponse,
  RequestError,
  type RequestPermissionRequest,
  type SessionUpdate,
} from '@agentclientprotocol/sdk'

/** One prompt as the agent sees it. `earlier` are the texts of the prompts before it. */
export interface AgentPrompt {
  readonly sessionId: string
  readonly blocks: readonly ContentBlock[]
  readonly earlier: readonly string[]
  readonly model: string
  readonly cancelled: AbortSignal
}

interface Stage {
  readonly prompt: AgentPrompt
  readonly client: AgentContext
  readonly argument: string
  update(update: SessionUpdate): Promise<void>
  say(text: string, messageId?: string): Promise<void>
}

type Play = (stage: Stage) => Promise<PromptResponse>

const END: PromptResponse = { stopReason: 'end_turn' }
const OPTIONS = [
  { optionId: 'yes', name: 'Yes', kind: 'allow_once' as const },
  { optionId: 'always', name: 'Always', kind: 'allow_always' as const },
  { optionId: 'no', name: 'No', kind: 'reject_once' as const },
]

/** Does what the first word of the last text says; other texts are echoed. */
export function playPrompt(prompt: AgentPrompt, client: AgentContext): Promise<PromptResponse> {
  const texts = prompt.blocks.flatMap(block => (block.type === 'text' ? [block.text] : []))
  const text = texts.at(-1) ?? ''
  const space = text.indexOf(' ')
  const update = (news: SessionUpdate): Promise<void> =>
    client.notify(methods.client.session.update, { sessionId: prompt.sessionId, update: news })
  const say = (words: string, messageId?: string): Promise<void> =>
    update({
      sessionUpdate: 'agent_message_chunk',
      content: { type: 'text', text: words },
      ...(messageId === undefined ? {} : { messageId }),
    })
  const stage = { prompt, client, argument: space < 0 ? '' : text.slice(space + 1), update, say }
  const play = PLAYS[space < 0 ? text : text.slice(0, space)] ?? PLAYS.echo
  return (play as Play)(stage)
}

const PLAYS: Readonly<Record<string, Play>> = {
  async echo({ prompt, say }) {
    for (const block of prompt.blocks) await say(block.type === 'text' ? block.text : JSON.stringify(block))
    return END
  },
  async stream({ say, argument }) {
    for (let i = 0; i < Number(argument); i++) await say(`${i} `)
    return {
      ...END,
      usage: { inputTokens: 3, outputTokens: Number(argument), totalTokens: 3 + Number(argument) },
    } as PromptResponse
  },
  async think({ say, update }) {
    await update({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'hm' } })
    await say('thought')
    return END
  },
  async tool({ say, update }) {
    const toolCallId = 'call_1'
    const before = 'one\ntwo\nthree\n'
    await say('before', 'm1')
    await update({
      sessionUpdate: 'tool_call',
      toolCallId,
      title: 'Edit',
      kind: 'edit',
      status: 'pending',
      rawInput: { path: 'a.txt' },
    })
    await update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'in_progress', title: 'Edit a.txt' })
    await update({
      sessionUpdate: 'tool_call_update',
      toolCallId,
      status: 'completed',
      content: [{ type: 'diff', path: 'a.txt', oldText: before, newText: before.replace('two', '2') }],
    })
    await update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed', title: 'too late' })
    await say('after', 'm1')
    return END
  },
  async tools({ update, argument }) {
    for (let i = 0; i < Number(argument); i++) {
      await update({ sessionUpdate: 'tool_call', toolCallId: `step_${i}`, title: 'Step', status: 'completed' })
    }
    return END
  },
  async plan({ update }) {
    const entries = [{ content: 'first', priority: 'high' as const, status: 'in_progress' as const }]
    await update({ sessionUpdate: 'plan', entries })
    await update({ sessionUpdate: 'usage_update', used: 10, size: 100 })
    return END
  },
  async ask({ client, prompt, say }) {
    const toolCall = {
      toolCallId: 'call_2',
      title: 'Delete b.txt',
      kind: 'delete' as const,
      status: 'pending' as const,
    }
    const request: RequestPermissionRequest = { sessionId: prompt.sessionId, toolCall, options: OPTIONS }
    const { outcome } = await client.request(methods.client.session.requestPermission, request)
    await say(outcome.outcome === 'selected' ? `selected ${outcome.optionId}` : 'cancelled')
    return prompt.cancelled.aborted ? { stopReason: 'cancelled' } : END
  },
  async form({ client, prompt, say }) {
    const answer = await client.request(methods.client.elicitation.create, {
      sessionId: prompt.sessionId,
      mode: 'form',
      message: 'Who are you?',
      requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    })
    await say(JSON.stringify(answer))
    return END
  },
  async wait({ prompt, say }) {
    await say('waiting')
    if (!prompt.cancelled.aborted) await new Promise(resolve => prompt.cancelled.addEventListener('abort', resolve))
    await say('never shown')
    return { stopReason: 'cancelled' }
  },
  async hang({ say }) {
    await say('hanging')
    return new Promise<never>(() => {})
  },
  async late({ say }) {
    setTimeout(() => void say('too late'), 50)
    return END
  },
  async crash({ say }) {
    await say('about to crash')
    process.stderr.write('first line\nthe last words\n')
    process.exit(3)
  },
  async mute() {
    closeSync(1)
    return new Promise<never>(() => {})
  },
  async garbage({ say, update }) {
    process.stdout.write('this is a log line\n{"half": \n[1,2]\n"text"\n\u0000\u0001\n')
    process.stdout.write('{"jsonrpc":"2.0","id":"never-asked","result":{}}\n{"method":7}\n')
    process.stdout.write('{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":7}}\n')
    await update({ sessionUpdate: 'of_the_future', content: 1 } as unknown as SessionUpdate)
    await update({ sessionUpdate: 'tool_call', title: 'without an id' } as unknown as SessionUpdate)
    await update({ sessionUpdate: 'agent_message_chunk', content: null } as unknown as SessionUpdate)
    await say('still here')
    return END
  },
  async huge() {
    const piece = 'x'.repeat(1024 * 1024)
    for (let i = 0; i < 40; i++) process.stdout.write(piece)
    return new Promise<never>(() => {})
  },
  async stop({ argument }) {
    return { stopReason: argument } as unknown as PromptResponse
  },
  async fail() {
    throw new RequestError(-32603, 'Internal error', { details: 'the model is gone' })
  },
  async login() {
    throw RequestError.authRequired()
  },
  async recall({ prompt, say }) {
    await say(`earlier: ${prompt.earlier.join(', ')}`)
    return END
  },
  async model({ prompt, say }) {
    await say(prompt.model)
    return END
  },
  async environment({ say }) {
    await say(
      Object.keys(process.env)
        .filter(name => name.startsWith('HEADWATER_'))
        .sort()
        .join(' '),
    )
    return END
  },
  async read({ prompt, say }) {
    for (const block of prompt.blocks) {
      if (block.type === 'resource_link') await say(`${block.name}: ${readFileSync(fileURLToPath(block.uri), 'utf8')}`)
    }
    return END
  },
  async pid({ say }) {
    await say(String(process.pid))
    return END
  },
  /** Whether the processes of these numbers run, one that nobody has waited for not among them. */
  async running({ say, argument }) {
    const stats = argument.split(' ').map(pid => `/proc/${pid}/stat`)
    const running = stats.filter(path => existsSync(path) && !/\) [ZX] /.test(readFileSync(path, 'latin1')))
    await say(`${running.length} of ${stats.length} run`)
    return END
  },
  /** Runs a program with arguments, as a tool of an agent does; says what it printed. */
  async execute({ say, argument }) {
    const [program = '', ...args] = argument.split(' ')
    const { stdout } = await promisify(execFile)(program, args)
    await say(stdout)
    return END
  },
  /** Two processes of a tool: one in the agent's group, one in a session of its own. */
  async background({ say }) {
    const pids = [false, true].map(detached => {
      const child = spawn('sleep', ['300'], { detached, stdio: 'ignore' })
      child.unref()
      return child.pid
    })
    await say(pids.join(' '))
    return END
  },
}
