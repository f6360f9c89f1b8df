import type { TextEntry, ToolEntry, TranscriptEntry } from '../../../schema/entities/transcript.ts'
import type { TurnSnapshot } from '../../../schema/entities/turn.ts'

/** The replica that the tests look from. */
export const SELF = { surface: 'desk', clientInstanceId: 'me' }
/** Another one. */
export const OTHER = { surface: 'laptop', clientInstanceId: 'them' }
/** A day at noon here. Unit: ms. */
export const NOON = new Date(2026, 4, 4, 12, 0, 0).getTime()

type Patch<K extends TranscriptEntry['kind']> = Partial<Extract<TranscriptEntry, { kind: K }>>

/** Writes the entries of a session one after the other, a second apart. */
export class EntryWriter {
  #seq = 0
  turnId = 't1'

  user(text: string, patch: Patch<'user'> = {}): TranscriptEntry {
    return { ...this.#keys('message'), kind: 'user', content: { text }, submittedBy: SELF, ...patch }
  }

  text(text: string, patch: Partial<TextEntry> = {}): TextEntry {
    const keys = this.#keys('block')
    return { ...keys, kind: 'assistant', messageId: `m${keys.seq}`, offset: 0, text, ...patch }
  }

  tool(title: string, patch: Partial<ToolEntry> = {}): ToolEntry {
    const keys = this.#keys('tool')
    return {
      ...keys,
      kind: 'tool',
      toolCallId: `c${keys.seq}`,
      name: 'read',
      title,
      status: 'completed',
      input: null,
      output: null,
      ...patch,
    }
  }

  notice(text: string): TranscriptEntry {
    return { ...this.#keys('notice'), kind: 'notice', text }
  }

  plan(text: string, patch: Patch<'plan'> = {}): TranscriptEntry {
    return { ...this.#keys('plan'), kind: 'plan', text, ...patch }
  }

  permission(title: string, label: string, patch: Patch<'interaction'> = {}): TranscriptEntry {
    const keys = this.#keys('interaction')
    return {
      ...keys,
      kind: 'interaction',
      interactionId: `i${keys.seq}`,
      request: {
        kind: 'permission',
        toolCallId: 'c1',
        title,
        toolKind: 'execute',
        options: [
          { optionId: 'yes', label, kind: 'allow_once' },
          { optionId: 'no', label: 'Reject', kind: 'reject_once' },
        ],
      },
      outcome: { kind: 'answer', answer: { kind: 'permission', optionId: 'yes' }, by: OTHER, at: keys.at + 500 },
      ...patch,
    }
  }

  #keys(id: string) {
    this.#seq += 1
    return {
      seq: this.#seq,
      id: `${id}-${this.#seq}`,
      turnId: this.turnId,
      runId: `r-${this.turnId}`,
      at: NOON + this.#seq * 1_000,
    }
  }
}

/** A turn as it stands. */
export function turnOf(
  turnId: string,
  status: TurnSnapshot['status'] | { readonly failed: string } | { readonly cancelled: string },
): TurnSnapshot {
  const keys = { sessionId: 's1', turnId, runId: `r-${turnId}` }
  if (typeof status === 'object') {
    return 'failed' in status
      ? { ...keys, status: 'failed', failureClass: status.failed, terminalEventId: 'e1' }
      : { ...keys, status: 'cancelled', abortSource: status.cancelled, terminalEventId: 'e1' }
  }
  return (status === 'completed' ? { ...keys, status, terminalEventId: 'e1' } : { ...keys, status }) as TurnSnapshot
}
