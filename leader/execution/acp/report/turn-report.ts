import { createHash } from 'node:crypto'
import type { AgentPlan } from '../../../../schema/entities/projection.ts'
import { LIMITS } from '../../../../schema/limits.ts'
import type { RunContext } from '../../backend.ts'
import { asObject, asString, blockText, type Unknown } from './content-text.ts'
import { ToolReport } from './tool-report.ts'

/**
 * One turn of an agent, told to its run update by update. Effects are issued in the order of the updates and not waited for one by one;
 * `ready` holds up the reader while too many are under way. The first effect that fails fails the turn.
 */
export class TurnReport {
  readonly tools: ToolReport
  /** Rejects with the first effect's failure; never resolves. */
  readonly failed: Promise<never>
  readonly #run: RunContext
  #fail: (error: unknown) => void = () => {}
  #segment = 0
  #effects = 0
  #bytes = 0
  #wakers: (() => void)[] = []
  #usage: Readonly<Record<string, unknown>> = {}
  #dropped = 0

  constructor(run: RunContext) {
    this.#run = run
    this.failed = new Promise((_, reject) => {
      this.#fail = reject
    })
    this.failed.catch(() => {})
    this.tools = new ToolReport(run, (effect, bytes) => this.#issue(effect, bytes))
  }

  /** Updates that were not understood. */
  get dropped(): number {
    return this.#dropped
  }

  /** Takes an update; one that is malformed or unknown is dropped. */
  take(value: unknown, bytes: number): void {
    const update = asObject(value)
    try {
      if (update === null || !this.#takeKnown(update, bytes)) this.#dropped += 1
    } catch {
      this.#dropped += 1
    }
  }

  /** Resolves when there is room for more. */
  async ready(): Promise<void> {
    while (this.#effects >= LIMITS.agentUpdatesQueued || this.#bytes >= LIMITS.agentUpdateBytesQueued)
      await this.#settled()
  }

  /** Resolves when every effect is durable; rejects if one failed. */
  async drained(): Promise<void> {
    while (this.#effects > 0) await Promise.race([this.#settled(), this.failed])
    await Promise.race([this.failed, null])
  }

  /** Reports what the agent said of its consumption, `more` included; nothing if it said nothing. */
  async reportUsage(more: unknown): Promise<void> {
    const usage = { ...this.#usage, ...asObject(more) }
    if (Object.keys(usage).length > 0) await this.#run.usage(usage)
  }

  #takeKnown(update: Unknown, bytes: number): boolean {
    switch (update.sessionUpdate) {
      case 'agent_message_chunk':
        return this.#say('message', update, bytes)
      case 'agent_thought_chunk':
        return this.#say('thought', update, bytes)
      case 'tool_call':
      case 'tool_call_update':
        if (this.tools.take(update, bytes)) this.#segment += 1
        return true
      case 'plan':
        this.#issue(this.#run.reportPlan(readPlan(update.entries)), bytes)
        return true
      case 'usage_update':
        this.#usage = {
          contextUsed: update.used,
          contextSize: update.size,
          ...(update.cost ? { cost: update.cost } : {}),
        }
        return true
      case 'notice':
        return this.#notice(update, bytes)
      default:
        return IGNORED.has(update.sessionUpdate)
    }
  }

  #say(kind: 'message' | 'thought', update: Unknown, bytes: number): boolean {
    const text = blockText(update.content)
    const key = `${this.#run.runId}\0${kind}\0${asString(update.messageId) ?? ''}\0${this.#segment}`
    const messageId = createHash('sha256').update(key).digest('hex').slice(0, 32)
    const effect = kind === 'message' ? this.#run.text(text, { messageId }) : this.#run.thinking(text, { messageId })
    this.#issue(effect, bytes)
    return true
  }

  #notice(update: Unknown, bytes: number): boolean {
    const text = [asString(update.title), asString(update.description)].filter(part => part !== undefined).join('\n')
    if (text === '') return false
    this.#issue(this.#run.notice(text), bytes)
    return true
  }

  #issue(effect: Promise<void>, bytes: number): void {
    this.#effects += 1
    this.#bytes += bytes
    effect
      .catch(error => this.#fail(error))
      .finally(() => {
        this.#effects -= 1
        this.#bytes -= bytes
        for (const wake of this.#wakers.splice(0)) wake()
      })
  }

  #settled(): Promise<void> {
    return new Promise(resolve => this.#wakers.push(resolve))
  }
}

/** Known kinds that say nothing about a turn. */
const IGNORED: ReadonlySet<unknown> = new Set([
  'user_message_chunk',
  'available_commands_update',
  'current_mode_update',
  'config_option_update',
  'session_info_update',
])

function readPlan(entries: unknown): AgentPlan['entries'] {
  if (!Array.isArray(entries)) return []
  return entries.flatMap(value => {
    const entry = asObject(value)
    const content = asString(entry?.content)
    if (content === undefined) return []
    return [{ content, priority: asString(entry?.priority) ?? 'medium', status: asString(entry?.status) ?? 'pending' }]
  })
}
