import type { Content } from '../../../schema/entities/content.ts'
import type { ToolText, TranscriptEntry } from '../../../schema/entities/transcript.ts'
import type { DomainEvent } from '../../../schema/events.ts'
import type { RowWrite } from '../../log/store.ts'
import { encodeJson } from '../record.ts'

/** Row `artifact_use`: a session names an artifact, or (under `uploadId`) somebody uploaded it; `at` is when, last. Source: L5. */
export interface ArtifactUseRow {
  readonly at: number
}

/** The id of the row that says when an artifact was uploaded last; it sorts before all uses of it. */
export function uploadId(hash: string): string {
  return `${hash}.!`
}

/** The id of the row that says that a session names an artifact. */
export function useId(hash: string, sessionId: string): string {
  return `${hash}.${sessionId}`
}

/** Which artifact the id of an `artifact_use` row is about, and which session names it; null: it is the upload. */
export function readUseId(id: string): { readonly hash: string; readonly sessionId: string | null } {
  const dot = id.indexOf('.')
  const sessionId = id.slice(dot + 1)
  return { hash: id.slice(0, dot), sessionId: sessionId === '!' ? null : sessionId }
}

/** A row of kind `artifact_use`. */
export function useRow(id: string, row: ArtifactUseRow | null): RowWrite {
  return { kind: 'artifact_use', id, value: row === null ? null : encodeJson(row) }
}

/** The uses of artifacts that one transition brings. Source: L5. */
export function artifactRows(sessionId: string, events: readonly DomainEvent[], at: number): RowWrite[] {
  const hashes = new Set<string>()
  for (const event of events) for (const hash of artifactsOf(event)) hashes.add(hash)
  return [...hashes].map(hash => useRow(useId(hash, sessionId), { at }))
}

function artifactsOf(event: DomainEvent): readonly string[] {
  switch (event.type) {
    case 'turn_admitted':
      return artifactsOfContent(event.payload.admission.normalizedInput ?? undefined)
    case 'user_message_appended':
    case 'steering_delivered':
    case 'queue_entry_added':
    case 'queue_entry_edited':
      return artifactsOfContent(event.payload.content)
    case 'tool_started':
      return ofText(event.payload.input)
    case 'tool_updated':
      return ofText(event.payload.input ?? null)
    case 'tool_ended':
      return ofText(event.payload.output)
    case 'session_forked':
      return event.payload.tail.flatMap(ofEntry)
    default:
      return []
  }
}

/** The artifacts a message names. */
export function artifactsOfContent(content: Content | undefined): readonly string[] {
  return content?.attachments?.flatMap(({ ref }) => ('artifact' in ref ? [ref.artifact] : [])) ?? []
}

function ofText(text: ToolText | null): readonly string[] {
  return text !== null && typeof text === 'object' ? [text.artifact] : []
}

/** The artifacts a transcript entry names. */
export function ofEntry(entry: TranscriptEntry): readonly string[] {
  if (entry.kind === 'user') return artifactsOfContent(entry.content)
  return entry.kind === 'tool' ? [...ofText(entry.input), ...ofText(entry.output)] : []
}
