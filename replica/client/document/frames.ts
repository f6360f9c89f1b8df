import type { SessionProjection } from '../../../schema/entities/projection.ts'
import type { TextEntry } from '../../../schema/entities/transcript.ts'
import type { SubscriptionFrame, TextDelta } from '../types.ts'
import type { DocumentEvent } from './document.ts'

/** A frame with about what it takes in memory. */
export interface SizedFrame {
  readonly frame: SubscriptionFrame
  readonly bytes: number
}

const FRAME_BYTES = 256

function streaming(projection: SessionProjection): readonly TextEntry[] {
  const entries: TextEntry[] = []
  // Open blocks come last.
  for (let i = projection.transcript.entries.length - 1; i >= 0; i--) {
    const entry = projection.transcript.entries[i]
    if (entry === undefined || !('isStreaming' in entry) || entry.isStreaming !== true) break
    entries.unshift(entry)
  }
  return entries
}

/** The text that `after` has more than `before` in its open blocks, oldest block first. Source: V2, L4. */
export function textDeltas(before: SessionProjection, after: SessionProjection): TextDelta[] {
  const known = new Map(streaming(before).map(entry => [entry.id, entry.text]))
  const deltas: TextDelta[] = []
  for (const { id, kind, turnId, runId, messageId, offset, text } of streaming(after)) {
    const length = known.get(id)?.length ?? 0
    if (text.length <= length || runId === undefined) continue
    deltas.push({
      kind: kind === 'assistant' ? 'text' : 'thinking',
      turnId,
      runId,
      messageId,
      startOffset: offset + length,
      text: text.slice(length),
    })
  }
  return deltas
}

function place(value: SessionProjection) {
  return { sessionId: value.session.sessionId, hostEpoch: value.hostEpoch, revision: value.revision }
}

/** The frame that gives a whole state in place of whatever was missed. */
export function resyncedFrame(snapshot: SessionProjection): SubscriptionFrame {
  return Object.freeze({ kind: 'subscription.session_resynced', ...place(snapshot), snapshot })
}

/** The last frame of a session that is no more. */
export function closedFrame(snapshot: SessionProjection, reason: string): SubscriptionFrame {
  return Object.freeze({ kind: 'subscription.closed', ...place(snapshot), reason })
}

/**
 * The frames of what happened to a session's document: one projection for a transition and after it the domains that changed, one delta for
 * each text that grew, one resync for a reconnect; nothing for presence and freshness. Source: V2, V3.
 */
export function framesOf(event: DocumentEvent<SessionProjection>): readonly SizedFrame[] {
  switch (event.kind) {
    case 'transition':
      return transitionFrames(event.before, event.value, event.bytes)
    case 'delta':
      return textDeltas(event.before, event.value).map(delta => ({
        frame: Object.freeze({
          kind: 'subscription.session_delta',
          ...place(event.value),
          delta: Object.freeze(delta),
        }),
        bytes: FRAME_BYTES + delta.text.length,
      }))
    case 'resynced':
      return [{ frame: resyncedFrame(event.value), bytes: FRAME_BYTES }]
    case 'opened':
    case 'damaged':
    case 'presence':
    case 'freshness':
    case 'removed':
      return []
  }
}

/** A plan that an agent keeps for itself is shown, and no change of the session's plan. Source: V2, P13. */
function changedDomains(before: SessionProjection, after: SessionProjection): ('plan' | 'tasks')[] {
  return [
    ...(before.plan.storeVersion === after.plan.storeVersion ? [] : ['plan' as const]),
    ...(before.tasks.revision === after.tasks.revision ? [] : ['tasks' as const]),
  ]
}

function transitionFrames(before: SessionProjection, snapshot: SessionProjection, bytes: number): SizedFrame[] {
  const frames: SizedFrame[] = [
    {
      frame: Object.freeze({ kind: 'subscription.session_projection', ...place(snapshot), snapshot }),
      bytes: FRAME_BYTES + bytes,
    },
  ]
  for (const domain of changedDomains(before, snapshot)) {
    const frame = Object.freeze({ kind: 'subscription.session_domain_changed' as const, ...place(snapshot), domain })
    frames.push({ frame, bytes: FRAME_BYTES })
  }
  return frames
}
