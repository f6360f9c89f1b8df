import * as z from 'zod/mini'
import { LedgerRecordShape } from '../../../schema/commands/history.ts'
import { Count, chars, Digest, EntityId } from '../../../schema/entities/primitives.ts'
import { TranscriptEntry } from '../../../schema/entities/transcript.ts'
import { LIMITS } from '../../../schema/limits.ts'

/**
 * Version of the file a session is exported to: one JSON value a line.
 *
 *   1  first
 */
export const SESSION_FILE_FORMAT = 1

/** What the type of the first line is. */
export const SESSION_FILE_TYPE = 'headwater.session'

/** The first line: which session, from where, and how far it goes. `hash` is that of its last record. */
export const FirstLine = z.looseObject({
  type: z.literal(SESSION_FILE_TYPE),
  format: Count,
  sessionId: EntityId,
  rootId: z.string(),
  revision: Count,
  exportedAt: Count,
  hash: Digest,
})
export type FirstLine = z.infer<typeof FirstLine>

/** Sealed transcript entries that a checkpoint does not hold any more. Source: L6. */
export const EntriesLine = z.strictObject({
  type: z.literal('entries'),
  entries: z.array(TranscriptEntry).check(z.minLength(1), z.maxLength(LIMITS.transcriptPageEntries)),
})
export type EntriesLine = z.infer<typeof EntriesLine>

/** A piece of an artifact; `data` is base64. All but the last one of an artifact are of `LIMITS.artifactPieceBytes`. */
export const ArtifactLine = z.strictObject({
  type: z.literal('artifact'),
  hash: Digest,
  bytes: Count,
  mimeType: chars(LIMITS.mimeTypeChars),
  index: Count,
  data: z.string().check(z.maxLength(Math.ceil(LIMITS.artifactPieceBytes / 3) * 4)),
})
export type ArtifactLine = z.infer<typeof ArtifactLine>

/** The last line: without it the file was cut off. `lines` are those before it. */
export const LastLine = z.strictObject({
  type: z.literal('end'),
  lines: Count,
  records: Count,
  artifacts: Count,
  hash: Digest,
})
export type LastLine = z.infer<typeof LastLine>

/** A line between the first and the last: a ledger record as it is stored, or what its type says. */
export const MiddleLine = z.union([EntriesLine, ArtifactLine, LastLine, LedgerRecordShape])
