import { createHash } from 'node:crypto'
import type { AgentPlan } from '../../schema/entities/projection.ts'
import type { ToolText } from '../../schema/entities/transcript.ts'
import { isEntityId } from '../../schema/ids.ts'
import { LIMITS } from '../../schema/limits.ts'
import { readAtDoor, truncateBytes, truncateBytesFromEnd, truncateChars, utf8Bytes } from '../../schema/text.ts'
import type { ArtifactSink } from './ports.ts'

const PLAIN_TEXT = 'text/plain; charset=utf-8'

/** A text of a tool as it may be stored: inline, or by reference above `LIMITS.inlineTextBytes`. Source: C3, L5. */
export async function storeToolText(raw: string, artifacts: ArtifactSink): Promise<ToolText> {
  const text = raw.toWellFormed()
  if (text.length <= LIMITS.inlineTextBytes && utf8Bytes(text) <= LIMITS.inlineTextBytes) return text
  const kept = Buffer.from(truncateBytes(text, LIMITS.artifactBytes), 'utf8')
  const { hash } = await artifacts.put(kept, PLAIN_TEXT)
  return { artifact: hash, bytes: kept.byteLength, preview: truncateBytes(text, LIMITS.artifactPreviewBytes) }
}

/** The end of a growing output, at most `LIMITS.toolTailBytes`. Source: L4. */
export function boundTail(raw: string): string {
  const end = raw.slice(-LIMITS.toolTailBytes)
  const isCutPair = end.length < raw.length && (end.charCodeAt(0) & 0xfc00) === 0xdc00
  return truncateBytesFromEnd((isCutPair ? end.slice(1) : end).toWellFormed(), LIMITS.toolTailBytes)
}

/** A short text of a backend: well-formed and at most `maxChars` long. */
export function boundChars(raw: string, maxChars: number): string {
  return truncateChars(raw.slice(0, maxChars + 1).toWellFormed(), maxChars)
}

/** A text of a backend that has to stay in one record. */
export function boundBytes(raw: string, maxBytes: number): string {
  return truncateBytes(raw.slice(0, maxBytes + 1).toWellFormed(), maxBytes)
}

/** The id of a tool call as the session knows it: the backend's own, or its digest if that is too long. */
export function boundToolCallId(raw: string): string {
  const id = raw.toWellFormed()
  if (id.length > 0 && id.length <= LIMITS.toolNameChars) return id
  return `call-${createHash('sha256').update(id).digest('hex').slice(0, 32)}`
}

/** The id of a message as the session knows it: the backend's own if it is an entity id, else its digest. */
export function boundMessageId(raw: string): string {
  const digest = createHash('sha256').update(raw.toWellFormed()).digest('hex')
  return isEntityId(raw) ? raw : `msg-${digest.slice(0, 32)}`
}

/** At most `LIMITS.agentPlanEntries` entries with bounded texts. */
export function boundPlan(entries: AgentPlan['entries']): AgentPlan['entries'] {
  return entries.slice(0, LIMITS.agentPlanEntries).map(entry => ({
    content: boundChars(String(entry.content), LIMITS.agentPlanTextChars),
    priority: boundChars(String(entry.priority), LIMITS.failureClassChars),
    status: boundChars(String(entry.status), LIMITS.failureClassChars),
  }))
}

/** A JSON object of a backend under the text rule; null when it has forbidden keys, is nested too deeply or too large. */
export function boundJson(value: object, maxBytes: number): Readonly<Record<string, unknown>> | null {
  const door = readAtDoor(value)
  if (!door.ok) return null
  const json = JSON.stringify(door.value)
  if (json === undefined || utf8Bytes(json) > maxBytes) return null
  return JSON.parse(json) as Record<string, unknown>
}

/** Splits a delta into pieces of at most `LIMITS.textBlockBytes`, between characters; a lone surrogate stays where it is. */
export function splitDelta(delta: string): readonly string[] {
  const maxUnits = Math.floor(LIMITS.textBlockBytes / 3)
  if (delta.length <= maxUnits) return [delta]
  const pieces: string[] = []
  for (let from = 0; from < delta.length; ) {
    let to = Math.min(delta.length, from + maxUnits)
    if (to < delta.length && (delta.charCodeAt(to - 1) & 0xfc00) === 0xd800) to -= 1
    pieces.push(delta.slice(from, to))
    from = to
  }
  return pieces
}
