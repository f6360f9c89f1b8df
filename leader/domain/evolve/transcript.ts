import type { ToolEntry, TranscriptEntry } from '../../../schema/entities/transcript.ts'
import type { DomainEvent, EventPayloads } from '../../../schema/events.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { utf8Bytes } from '../../../schema/text.ts'
import type { LiveEntry, SessionState } from '../state.ts'
import type { TransitionMeta } from './meta.ts'

/** An entry before it has its place. */
export type NewEntry = TranscriptEntry extends infer E ? (E extends TranscriptEntry ? Omit<E, 'seq'> : never) : never

/** The live record of an entry. */
export function liveEntry(entry: TranscriptEntry): LiveEntry {
  return { entry, bytes: utf8Bytes(JSON.stringify(entry)) }
}

/** The state with one more transcript entry. */
export function appendEntry(state: SessionState, entry: NewEntry): SessionState {
  const live = liveEntry({ seq: state.nextSeq, ...entry } as TranscriptEntry)
  return { ...state, transcript: [...state.transcript, live], nextSeq: state.nextSeq + 1 }
}

/** Facts that show in the transcript. Source: L2. */
export function evolveTranscript(state: SessionState, event: DomainEvent, meta: TransitionMeta): SessionState {
  const { at } = meta
  switch (event.type) {
    case 'user_message_appended': {
      const { messageId, turnId, runId, content, submittedBy } = event.payload
      return appendEntry(state, {
        id: messageId,
        turnId,
        runId,
        at: event.payload.at,
        kind: 'user',
        content,
        submittedBy,
      })
    }
    case 'steering_delivered': {
      const { messageId, turnId, runId, content, submittedBy } = event.payload
      return appendEntry(state, {
        id: messageId,
        turnId,
        runId,
        at,
        kind: 'user',
        content,
        submittedBy,
        isSteering: true,
      })
    }
    case 'text_sealed': {
      const { blockId, turnId, runId, kind, messageId, offset, text, startedAt } = event.payload
      return appendEntry(state, { id: blockId, turnId, runId, at: startedAt, kind, messageId, offset, text })
    }
    case 'notice_appended': {
      const { entryId, turnId, runId, text } = event.payload
      return appendEntry(state, { id: entryId, turnId, runId, at, kind: 'notice', text })
    }
    case 'tool_started':
      return appendEntry(state, toolEntry(event.payload, meta))
    case 'tool_updated':
      return changeTool(state, event.payload)
    case 'tool_ended':
      return endTool(state, event.payload, meta)
    default:
      return state
  }
}

function toolEntry(payload: EventPayloads['tool_started'], meta: TransitionMeta): NewEntry {
  const { turnId, runId, toolCallId, name, title, status, input } = payload
  const id = `tool-${meta.revision}`
  return { id, turnId, runId, at: meta.at, kind: 'tool', toolCallId, name, title, status, input, output: null }
}

/** The state once these entries have left the live transcript: calls among them that have no outcome stay known. Source: X11. */
export function withSealedCalls(state: SessionState, sealed: readonly TranscriptEntry[]): SessionState {
  const { root } = state
  if (root === null || sealed.length === 0) return state
  const open = sealed.flatMap(entry =>
    entry.kind === 'tool' && entry.runId === root.admission.runId && isOpen(entry) ? [entry.toolCallId] : [],
  )
  return open.length === 0
    ? state
    : { ...state, root: { ...root, sealedCalls: [...(root.sealedCalls ?? []), ...open] } }
}

function isOpen({ status }: Pick<ToolEntry, 'status'>): boolean {
  return status === 'pending' || status === 'in_progress'
}

function withoutSealedCall(state: SessionState, call: { toolCallId: string; runId: string }): SessionState {
  const { root } = state
  if (root?.sealedCalls === undefined || root.admission.runId !== call.runId) return state
  const left = root.sealedCalls.filter(id => id !== call.toolCallId)
  if (left.length === root.sealedCalls.length) return state
  const { sealedCalls: _, ...kept } = root
  return { ...state, root: left.length === 0 ? kept : { ...kept, sealedCalls: left } }
}

function findTool(state: SessionState, call: { toolCallId: string; runId: string }): number {
  return state.transcript.findLastIndex(
    ({ entry }) => entry.kind === 'tool' && entry.toolCallId === call.toolCallId && entry.runId === call.runId,
  )
}

function replaceEntry(state: SessionState, index: number, patch: Partial<TranscriptEntry>): SessionState {
  const transcript = state.transcript.slice()
  const { entry } = transcript[index] as LiveEntry
  transcript[index] = liveEntry({ ...entry, ...patch } as TranscriptEntry)
  return { ...state, transcript }
}

function changeTool(state: SessionState, payload: EventPayloads['tool_updated']): SessionState {
  const index = findTool(state, payload)
  if (index < 0) return state
  const { title, status, input, outputTail } = payload
  return replaceEntry(state, index, {
    ...(title === undefined ? {} : { title }),
    ...(status === undefined ? {} : { status }),
    ...(input === undefined ? {} : { input }),
    ...(outputTail === undefined ? {} : { output: outputTail }),
  })
}

/** A call whose entry was sealed meanwhile gets a second entry with its outcome: sealed segments never change. Source: L3. */
function endTool(state: SessionState, payload: EventPayloads['tool_ended'], meta: TransitionMeta): SessionState {
  const { status, output, turnId, runId, toolCallId } = payload
  const index = findTool(state, payload)
  if (index >= 0) {
    const kept = (state.transcript[index] as LiveEntry).entry
    const shown = output ?? (kept.kind === 'tool' ? kept.output : null)
    return replaceEntry(state, index, { status, output: shown, endedAt: meta.at })
  }
  const id = `tool-${meta.revision}`
  const keys = { id, turnId, runId, at: meta.at, kind: 'tool' as const, toolCallId }
  const entry: NewEntry = { ...keys, name: '', title: '', status, input: null, output, endedAt: meta.at }
  return appendEntry(withoutSealedCall(state, payload), entry)
}

/**
 * Entries that leave the live document: the oldest, down to half of a bound, once a bound is passed. At least one entry stays.
 * Deterministic, so that folding a ledger gives the same segments. Source: L3.
 */
export function sealTranscript(live: readonly LiveEntry[]): {
  readonly transcript: readonly LiveEntry[]
  readonly sealed: readonly TranscriptEntry[]
} {
  let bytes = 0
  for (const entry of live) bytes += entry.bytes
  if (live.length <= LIMITS.liveTranscriptEntries && bytes <= LIMITS.liveTranscriptBytes) {
    return { transcript: live, sealed: [] }
  }
  let count = 0
  const isOver = (): boolean =>
    live.length - count > LIMITS.liveTranscriptEntries / 2 || bytes > LIMITS.liveTranscriptBytes / 2
  while (count < live.length - 1 && isOver()) {
    bytes -= (live[count] as LiveEntry).bytes
    count += 1
  }
  if (count === 0) return { transcript: live, sealed: [] }
  return { transcript: live.slice(count), sealed: live.slice(0, count).map(l => l.entry) }
}
