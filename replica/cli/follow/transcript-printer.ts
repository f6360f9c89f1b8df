import type { InteractionSnapshot } from '../../../schema/entities/interaction.ts'
import type { SessionProjection } from '../../../schema/entities/projection.ts'
import type { TextEntry, ToolEntry, TranscriptEntry } from '../../../schema/entities/transcript.ts'
import type { TurnSnapshot } from '../../../schema/entities/turn.ts'
import { LIMITS } from '../../../schema/limits.ts'
import type { TextDelta } from '../../client/types.ts'
import { outcomeLine, summaryOf } from '../../view/interaction-words.ts'
import { createTerminalStream, type TerminalStream } from '../../view/terminal-text.ts'
import { describeInteraction } from '../answering/describe.ts'
import type { Output } from '../output/output.ts'
import { formatEntry, THINKING_MARK, toolLine } from './entry-text.ts'
import type { ReadPage } from './final-text.ts'
import { turnLine } from './turn-end.ts'

/** Prints a session as it goes on: text while it streams, everything else when it happens. */
export interface TranscriptPrinter {
  /** A piece of streamed text. */
  delta(delta: TextDelta): Promise<void>
  /** A state of the session; states come in order, some may be missing. */
  state(projection: SessionProjection): Promise<void>
}

/** The text block being printed: of which message, up to where in it (UTF-16 units). */
interface OpenBlock {
  readonly messageId: string
  upTo: number
  /** Nothing will be added to it. */
  isWhole: boolean
  readonly stream: TerminalStream
}

/** What a printer asks for that has left the live session: pages of history, and how a turn ended. */
export interface PastReader {
  readonly page: ReadPage
  readonly turn: (sessionId: string, turnId: string) => Promise<TurnSnapshot>
}

/** A printer that begins with the entries after `afterSeq`; the end of turn `turnId` is not told. Source: V2, Z6. */
export function createTranscriptPrinter(
  out: Output,
  past: PastReader,
  start: { readonly afterSeq: number; readonly turnId: string | undefined },
): TranscriptPrinter {
  const printer = new Printer(out, past, start)
  return { delta: delta => printer.delta(delta), state: projection => printer.state(projection) }
}

class Printer {
  readonly #out: Output
  readonly #past: PastReader
  /** Entries up to this one are printed whole. */
  #doneSeq: number
  #open: OpenBlock | undefined
  /** How far messages are printed whose block was left while it still streamed. */
  readonly #left = new Map<string, number>()
  #runningTools = new Set<string>()
  #shownInteractions = new Set<string>()
  /** The turn that was printed last, until its end is. */
  #openTurnId: string | undefined
  #endedTurnId: string | undefined

  constructor(
    out: Output,
    past: PastReader,
    start: { readonly afterSeq: number; readonly turnId: string | undefined },
  ) {
    this.#out = out
    this.#past = past
    this.#doneSeq = start.afterSeq
    this.#endedTurnId = start.turnId
  }

  async delta(delta: TextDelta): Promise<void> {
    const upTo = this.#printedUpTo(delta.messageId, 0)
    const end = delta.startOffset + delta.text.length
    // A gap is filled by the next state.
    if (delta.startOffset > upTo || end <= upTo) return
    const open = await this.#blockOf(delta.messageId, delta.kind === 'thinking', upTo)
    await this.#print(open, delta.text.slice(upTo - delta.startOffset), end)
  }

  async state(projection: SessionProjection): Promise<void> {
    const { sessionId } = projection.session
    for (const entry of await this.#newEntries(projection)) {
      await this.#enterTurn(sessionId, entry.turnId)
      if (entry.kind === 'assistant' || entry.kind === 'thinking') {
        await this.#text(entry)
        if (entry.isStreaming) break
      } else {
        await this.#closeBlock()
        await this.#whole(entry)
      }
      this.#doneSeq = entry.seq
    }
    await this.#endedTools(projection.transcript.entries)
    await this.#interactions(projection.interactions.pending)
    await this.#turn(projection.rootTurn)
  }

  /** Entries after the last whole one; those that have left the live transcript already are read. */
  async #newEntries(projection: SessionProjection): Promise<readonly TranscriptEntry[]> {
    const { transcript, session } = projection
    const live = transcript.entries.filter(entry => entry.seq > this.#doneSeq)
    const missing: TranscriptEntry[][] = []
    let first = transcript.firstSeq
    while (transcript.entries.length > 0 && first > this.#doneSeq + 1) {
      const limit = Math.min(first - this.#doneSeq - 1, LIMITS.transcriptPageEntries)
      const page = await this.#past.page(session.sessionId, { before: first, limit })
      if (page.entries.length === 0) break
      missing.push(page.entries.filter(entry => entry.seq > this.#doneSeq))
      first = page.firstSeq
    }
    return missing.length === 0 ? live : [...missing.reverse().flat(), ...live]
  }

  async #text(entry: TextEntry): Promise<void> {
    const upTo = this.#printedUpTo(entry.messageId, entry.offset)
    const end = entry.offset + entry.text.length
    if (end > upTo) {
      const open = await this.#blockOf(entry.messageId, entry.kind === 'thinking', upTo)
      await this.#print(open, entry.text.slice(Math.max(0, upTo - entry.offset)), end)
    }
    if (entry.isStreaming === true) return
    this.#left.delete(entry.messageId)
    if (this.#open?.messageId === entry.messageId) this.#open.isWhole = true
  }

  #printedUpTo(messageId: string, offset: number): number {
    return this.#open?.messageId === messageId ? this.#open.upTo : (this.#left.get(messageId) ?? offset)
  }

  async #blockOf(messageId: string, isThinking: boolean, upTo: number): Promise<OpenBlock> {
    if (this.#open?.messageId === messageId) return this.#open
    await this.#closeBlock()
    const open = { messageId, upTo, isWhole: false, stream: createTerminalStream() }
    this.#open = open
    if (isThinking) await this.#out.text(THINKING_MARK)
    return open
  }

  async #print(open: OpenBlock, text: string, upTo: number): Promise<void> {
    open.upTo = upTo
    open.isWhole = false
    await this.#out.styled(open.stream.push(text))
  }

  async #closeBlock(): Promise<void> {
    if (this.#open === undefined) return
    const { messageId, upTo, isWhole, stream } = this.#open
    const rest = stream.end()
    if (!isWhole) this.#left.set(messageId, upTo)
    this.#open = undefined
    await this.#out.styled(`${rest}\n\n`)
  }

  async #whole(entry: TranscriptEntry): Promise<void> {
    if (entry.kind === 'tool') {
      if (isRunning(entry)) this.#runningTools.add(entry.id)
      return this.#out.text(`${formatEntry(entry)}\n\n`)
    }
    if (entry.kind === 'interaction' && this.#shownInteractions.has(entry.interactionId)) {
      return this.#out.text(`? ${summaryOf(entry.request)}: ${outcomeLine(entry.outcome, entry.request)}\n\n`)
    }
    await this.#out.text(`${formatEntry(entry)}\n\n`)
  }

  async #endedTools(entries: readonly TranscriptEntry[]): Promise<void> {
    if (this.#runningTools.size === 0) return
    const live = new Set<string>()
    for (const entry of entries) {
      if (entry.kind !== 'tool' || !this.#runningTools.has(entry.id)) continue
      if (isRunning(entry)) live.add(entry.id)
      else {
        await this.#closeBlock()
        await this.#out.text(`${toolLine(entry)}\n\n`)
      }
    }
    this.#runningTools = live
  }

  async #interactions(pending: readonly InteractionSnapshot[]): Promise<void> {
    for (const interaction of pending) {
      if (this.#shownInteractions.has(interaction.interactionId)) continue
      await this.#closeBlock()
      await this.#out.text(`? ${describeInteraction(interaction)}\n\n`)
    }
    this.#shownInteractions = new Set(pending.map(({ interactionId }) => interactionId))
  }

  /** A turn that ended while nobody looked, and has been followed by another one since, is told by its stored end. */
  async #enterTurn(sessionId: string, turnId: string): Promise<void> {
    if (turnId === this.#openTurnId || turnId === this.#endedTurnId) return
    if (this.#openTurnId !== undefined) await this.#end(await this.#past.turn(sessionId, this.#openTurnId))
    this.#openTurnId = turnId
  }

  async #turn(turn: TurnSnapshot | null): Promise<void> {
    if (turn === null || turn.turnId === this.#endedTurnId) return
    await this.#enterTurn(turn.sessionId, turn.turnId)
    if ('terminalEventId' in turn) await this.#end(turn)
  }

  async #end(turn: TurnSnapshot): Promise<void> {
    this.#openTurnId = undefined
    this.#endedTurnId = turn.turnId
    this.#left.clear()
    await this.#closeBlock()
    await this.#out.text(`— ${turnLine(turn)}\n\n`)
  }
}

function isRunning(tool: ToolEntry): boolean {
  return tool.status === 'pending' || tool.status === 'in_progress'
}
