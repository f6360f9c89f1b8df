import type { RunContext } from '../../backend.ts'
import { asString, rawOutputText, rawText, toolContentText, type Unknown } from './content-text.ts'

interface ReportedCall {
  readonly toolCallId: string
  kind: string | undefined
  title: string
  inputText: string | undefined
  outputText: string | undefined
  hasEnded: boolean
}

type Issue = (effect: Promise<void>, bytes: number) => void

/** What an agent said of its tool calls in one turn, told to the run: every call starts once, ends at most once, and is silent afterwards. */
export class ToolReport {
  readonly #run: RunContext
  readonly #issue: Issue
  readonly #calls = new Map<string, ReportedCall>()
  #newsBytes = 0

  /** `issue` takes each effect's promise, and how much of the agent's output it holds in memory. */
  constructor(run: RunContext, issue: Issue) {
    this.#run = run
    this.#issue = issue
  }

  /** How many calls were started. */
  get started(): number {
    return this.#calls.size
  }

  /**
   * Takes a `tool_call` or `tool_call_update` of `bytes` bytes, or the call in a permission request; true if it started a call.
   */
  take(news: Unknown, bytes: number): boolean {
    this.#newsBytes = bytes
    const toolCallId = asString(news.toolCallId)
    if (toolCallId === undefined || toolCallId === '') return false
    const known = this.#calls.get(toolCallId)
    const call = known ?? this.#start(toolCallId, news)
    if (call.hasEnded) return false
    if (known !== undefined) this.#update(call, news)
    const output = toolContentText(news.content)
    if (output !== undefined) call.outputText = output
    if (news.status === 'completed' || news.status === 'failed') this.#end(call, news.status, news.rawOutput)
    else if (output !== undefined) this.#tell(this.#run.toolUpdate({ toolCallId, outputTail: output }))
    return known === undefined
  }

  /** Title and kind of a call as last told. */
  describe(toolCallId: string): { readonly title: string; readonly kind: string | undefined } | undefined {
    return this.#calls.get(toolCallId)
  }

  #start(toolCallId: string, news: Unknown): ReportedCall {
    const kind = asString(news.kind)
    const name = asString(news.name) ?? kind ?? 'tool'
    const title = asString(news.title) ?? name
    const input = rawText(news.rawInput)
    const call = { toolCallId, kind, title, inputText: input, outputText: undefined, hasEnded: false }
    this.#calls.set(toolCallId, call)
    const status = news.status === 'pending' || news.status === undefined ? 'pending' : 'in_progress'
    this.#tell(this.#run.toolStart({ toolCallId, name, title, status, ...(input === undefined ? {} : { input }) }))
    return call
  }

  #update(call: ReportedCall, news: Unknown): void {
    call.kind = asString(news.kind) ?? call.kind
    const title = asString(news.title)
    const input = rawText(news.rawInput)
    const isNewTitle = title !== undefined && title !== call.title
    const isNewInput = input !== undefined && input !== call.inputText
    const isRunning = news.status === 'in_progress' || news.status === 'pending'
    if (isNewTitle) call.title = title
    if (isNewInput) call.inputText = input
    if (!isNewTitle && !isNewInput && !isRunning) return
    this.#tell(
      this.#run.toolUpdate({
        toolCallId: call.toolCallId,
        ...(isNewTitle ? { title } : {}),
        ...(isNewInput ? { input } : {}),
        ...(isRunning ? { status: news.status as 'in_progress' | 'pending' } : {}),
      }),
    )
  }

  #end(call: ReportedCall, status: 'completed' | 'failed', rawOutput: unknown): void {
    call.hasEnded = true
    const output = call.outputText ?? rawOutputText(rawOutput)
    call.outputText = undefined
    call.inputText = undefined
    const { toolCallId } = call
    this.#tell(this.#run.toolEnd({ toolCallId, status, ...(output === undefined ? {} : { output }) }))
  }

  #tell(effect: Promise<void>): void {
    this.#issue(effect, this.#newsBytes)
  }
}
