import type { SessionProjection } from '../../../schema/entities/projection.ts'
import type { TranscriptEntry } from '../../../schema/entities/transcript.ts'
import { isTerminal, type TurnSnapshot } from '../../../schema/entities/turn.ts'
import type { SessionView } from '../../react/types.ts'
import { titleOf } from '../../view/session-list.ts'
import { createRowModel, type RowModel } from '../../view/transcript/row-model.ts'
import { rowText } from '../../view/transcript/row-text.ts'
import { toolTitle } from '../../view/transcript/tool-words.ts'
import { beginningWords, brokenWords, nextWords } from '../../view/transcript/turn-words.ts'
import { queueLine } from './session-words.ts'

/** So many of the newest entries are told when a session is opened. */
const FIRST_ENTRIES = 8

/** Says what happens in a session: each finished thing once, each change of state once, in words. Source: experience 7.3. */
export class SessionTeller {
  readonly #rows: RowModel
  #isOpen = false
  #toldSeq = 0
  #toldTurn: { readonly turnId: string; readonly status: TurnSnapshot['status'] } | null = null
  #runningTools = new Set<number>()
  #messageId = ''
  #queue = ''
  #proposal = ''
  #failure = ''
  #aside: SessionView['aside'] = null

  /** `selfId` is the `clientInstanceId` of this replica. */
  constructor(selfId?: string) {
    this.#rows = createRowModel(selfId)
  }

  /** What is new in this view. */
  tell({ projection, failure, aside }: SessionView): readonly string[] {
    const said: string[] = []
    if (aside !== this.#aside && aside !== null) said.push(WENT_BACK)
    this.#aside = aside
    const why = failure === null ? '' : `This session cannot be shown: ${failure.message}`
    if (why !== this.#failure && why !== '') said.push(why)
    this.#failure = why
    if (projection === null) return said
    if (!this.#isOpen || projection.transcript.lastSeq < this.#toldSeq) said.push(...this.#open(projection))
    return [...said, ...this.#transcript(projection), ...this.#turn(projection.rootTurn), ...this.#others(projection)]
  }

  #open({ session, transcript, rootTurn }: SessionProjection): readonly string[] {
    this.#isOpen = true
    const from = Math.max(0, transcript.lastSeq - FIRST_ENTRIES)
    this.#toldSeq = from
    this.#runningTools.clear()
    const isOver = rootTurn === null || isTerminal(rootTurn.status)
    if (rootTurn !== null && isOver) this.#toldTurn = { turnId: rootTurn.turnId, status: rootTurn.status }
    const before = from === 0 ? '' : ` ${from} older entries are not told.`
    const archived = session.isArchived ? ' It was put away.' : ''
    return [`Session: ${titleOf(session)}.${archived}${before}`]
  }

  #transcript({ transcript, rootTurn }: SessionProjection): readonly string[] {
    const said: string[] = this.#endedTools(transcript.entries)
    const missing = transcript.firstSeq - this.#toldSeq - 1
    if (transcript.entries.length > 0 && missing > 0) {
      said.push(`(${missing === 1 ? '1 entry' : `${missing} entries`} passed by untold)`)
      this.#toldSeq += missing
    }
    for (const entry of transcript.entries) {
      if (entry.seq <= this.#toldSeq) continue
      if ('isStreaming' in entry && entry.isStreaming === true) break
      said.push(...this.#entry(entry, rootTurn))
      this.#toldSeq = entry.seq
    }
    return said
  }

  #entry(entry: TranscriptEntry, rootTurn: TurnSnapshot | null): readonly string[] {
    if (entry.kind === 'tool' && isRunning(entry.status)) {
      this.#runningTools.add(entry.seq)
      return [`Tool started: ${toolTitle(entry)}`]
    }
    const isNewMessage = 'messageId' in entry && entry.messageId !== this.#messageId
    this.#messageId = 'messageId' in entry ? entry.messageId : ''
    return this.#rows.rows({ entries: [entry], hasMore: true, turns: new Map() }).map(row => {
      if (row.kind === 'assistant')
        return `${isNewMessage ? 'Assistant: ' : ''}${rowText(row).replace(/^\n+|\n+$/g, '')}`
      if (row.kind !== 'turn') return rowText(row)
      if (row.turnId === rootTurn?.turnId && this.#toldTurn?.turnId !== row.turnId) {
        this.#toldTurn = { turnId: row.turnId, status: 'running' }
      }
      return `Turn started: ${beginningWords(row)}`
    })
  }

  #endedTools(entries: readonly TranscriptEntry[]): string[] {
    const said: string[] = []
    const running = new Set<number>()
    for (const entry of entries) {
      if (entry.kind !== 'tool' || !this.#runningTools.has(entry.seq)) continue
      if (isRunning(entry.status)) running.add(entry.seq)
      else said.push(...this.#entry(entry, null))
    }
    this.#runningTools = running
    return said
  }

  #turn(turn: TurnSnapshot | null): readonly string[] {
    const told = this.#toldTurn
    if (turn === null || (told?.turnId === turn.turnId && told.status === turn.status)) return []
    if (turn.status !== 'admitted') this.#toldTurn = { turnId: turn.turnId, status: turn.status }
    const isNew = told?.turnId !== turn.turnId
    switch (turn.status) {
      case 'admitted':
        // It starts at once, or waits until others have ended; its start is what is said.
        return []
      case 'running':
        return [isNew ? 'A turn is running.' : 'Running again.']
      case 'waiting_for_user':
        // The question itself is told by who asks it.
        return ['The turn waits for an answer.']
      case 'completed':
        return ['Turn completed.']
      case 'failed':
      case 'cancelled':
        return [`Turn ${brokenWords(turn)}`, nextWords(turn)]
      default:
        return turn satisfies never
    }
  }

  #others({ queue, plan }: SessionProjection): readonly string[] {
    const said: string[] = []
    const waiting = queueLine(queue)
    if (waiting !== this.#queue) said.push(waiting === '' ? 'No message waits any more.' : waiting)
    this.#queue = waiting
    const { latestProposal } = plan
    const proposal = latestProposal?.status === 'pending_approval' ? latestProposal : null
    const key = proposal === null ? '' : `${proposal.proposalId} ${proposal.revision}`
    if (proposal !== null && key !== this.#proposal) {
      said.push(`A plan waits for approval: ${proposal.title}, revision ${proposal.revision}. /plan reads it out.`)
    }
    this.#proposal = key
    return said
  }
}

const WENT_BACK =
  "The leader's data root went back to an older state; what was seen beyond it is kept by headwater session show ID --offline."

function isRunning(status: Extract<TranscriptEntry, { kind: 'tool' }>['status']): boolean {
  return status === 'pending' || status === 'in_progress'
}
