import type { ExecutionStep, PlanStep } from '../../../../schema/entities/plan.ts'
import type { SessionHeader } from '../../../../schema/entities/session.ts'
import type { TranscriptEntry } from '../../../../schema/entities/transcript.ts'
import { LIMITS } from '../../../../schema/limits.ts'
import { endWords, turnWords } from '../../../view/words.ts'
import type { Sink } from '../sink.ts'
import type { SessionSource } from '../source.ts'
import { entryMarkdown, type PlanLookup } from './entry-markdown.ts'
import { code, inline, instant } from './markdown-text.ts'

/** What was written. */
export interface ExportedMarkdown {
  readonly sessionId: string
  readonly turns: number
  readonly entries: number
}

/** Writes a session's transcript as people read it: the same session gives the same text. Source: D5, L2. */
export async function exportMarkdown(source: SessionSource, sink: Sink): Promise<ExportedMarkdown> {
  await sink.write(headText(await source.header()))
  const printer = new TurnPrinter(source, sink, await readPlans(source))
  for await (const entry of entriesInOrder(source)) await printer.entry(entry)
  await printer.end()
  return { sessionId: source.sessionId, turns: printer.turns, entries: printer.entries }
}

function headText(header: SessionHeader): string {
  const { sessionId, title, createdAt, lastActivityAt, cwd, backend, model, parent, isArchived } = header
  const facts: (readonly [string, string])[] = [
    ['Session', code(sessionId)],
    ['Created', instant(createdAt)],
    ['Last active', instant(lastActivityAt)],
    ['Directory', code(cwd)],
    ['Backend', code(backend)],
    ...(model === undefined ? [] : [['Model', code(model)] as const]),
    ...(parent === undefined ? [] : [['Parent', `${code(parent.sessionId)}, as ${inline(parent.agentName)}`] as const]),
    ...(isArchived ? [['Archived', 'yes'] as const] : []),
  ]
  const heading = title === '' ? 'A session without a title' : inline(title)
  return `# ${heading}\n\n${facts.map(([name, value]) => `- ${name}: ${value}`).join('\n')}\n`
}

/** Turns one after the other, each with how it ended. */
class TurnPrinter {
  readonly #source: SessionSource
  readonly #sink: Sink
  readonly #plans: PlanLookup
  #turnId: string | undefined
  /** Pieces of one message that are not written yet. */
  #held: Extract<TranscriptEntry, { kind: 'assistant' | 'thinking' }> | undefined
  turns = 0
  entries = 0

  constructor(source: SessionSource, sink: Sink, plans: PlanLookup) {
    this.#source = source
    this.#sink = sink
    this.#plans = plans
  }

  async entry(entry: TranscriptEntry): Promise<void> {
    this.entries += 1
    if (entry.turnId !== this.#turnId) await this.#enter(entry)
    const isText = entry.kind === 'assistant' || entry.kind === 'thinking'
    const held = this.#held
    if (isText && held?.messageId === entry.messageId && held.kind === entry.kind) {
      // One message is written in one piece, but for one that is too long to be held.
      const isLong = held.text.length > LIMITS.finalTextChars
      this.#held = isLong ? entry : { ...held, text: held.text + entry.text }
      if (isLong) await this.#write(held)
      return
    }
    await this.#flush()
    if (isText) this.#held = entry
    else await this.#write(entry)
  }

  async end(): Promise<void> {
    await this.#flush()
    if (this.#turnId === undefined) return
    const turn = await this.#source.turn(this.#turnId)
    if (turn === null || turn.status === 'completed') return
    const isEnd = turn.status === 'failed' || turn.status === 'cancelled'
    const words = isEnd ? `Turn ${turnWords(turn.status)}: ${endWords(turn)}` : `This turn ${turnWords(turn.status)}`
    await this.#sink.write(`\n*${inline(words)}.*\n`)
  }

  async #enter({ turnId, at }: TranscriptEntry): Promise<void> {
    await this.end()
    this.#turnId = turnId
    this.turns += 1
    await this.#sink.write(`\n## Turn ${this.turns} — ${instant(at)}\n`)
  }

  async #flush(): Promise<void> {
    const held = this.#held
    this.#held = undefined
    if (held !== undefined) await this.#write(held)
  }

  async #write(entry: TranscriptEntry): Promise<void> {
    const text = entryMarkdown(entry, this.#plans)
    if (text !== '') await this.#sink.write(`\n${text}\n`)
  }
}

/** All entries, the oldest first: pages lead back, so they are read a window at a time. */
async function* entriesInOrder(source: SessionSource): AsyncGenerator<TranscriptEntry> {
  const { lastSeq } = await source.transcript({ limit: 1 })
  const size = LIMITS.transcriptPageEntries
  for (let first = 1; first <= lastSeq; first += size) {
    const pages: TranscriptEntry[][] = []
    for (let before = Math.min(first + size, lastSeq + 1); before > first; ) {
      const page = await source.transcript({ before, limit: before - first })
      const entries = page.entries.filter(({ seq }) => seq >= first)
      if (entries.length === 0) break
      pages.push(entries)
      before = page.firstSeq
    }
    for (const page of pages.reverse()) yield* page
  }
}

/** The newest proposals and executions; of older ones the entries say what became of them, without the steps. */
async function readPlans(source: SessionSource): Promise<PlanLookup> {
  const steps = new Map<string, readonly (PlanStep | ExecutionStep)[]>()
  for await (const item of source.plans()) {
    const of = item.kind === 'proposal' ? item.proposal : item.execution
    steps.set('executionId' in of ? of.executionId : of.proposalId, of.steps)
    const [oldest] = steps.keys()
    if (steps.size > LIMITS.exportPlans && oldest !== undefined) steps.delete(oldest)
  }
  return {
    steps({ event, proposalId, executionId }) {
      if (event === 'plan_submitted') return steps.get(proposalId ?? '') ?? []
      const isEnd = event !== undefined && ENDS.has(event)
      return isEnd ? (steps.get(executionId ?? '') ?? []) : []
    },
  }
}

const ENDS: ReadonlySet<string> = new Set([
  'plan_execution_completed',
  'plan_execution_cancelled',
  'plan_execution_interrupted',
])
