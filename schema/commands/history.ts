import * as z from 'zod/mini'
import { Count, chars, Digest, EntityId } from '../entities/primitives.ts'
import { TranscriptPage } from '../entities/transcript.ts'
import { LIMITS } from '../limits.ts'
import { query } from './operation.ts'

const limit = (max: number) => z.number().check(z.int(), z.gte(1), z.lte(max))

/** A ledger record as it travels; whether it is what its hash says is for its reader to find out. Source: A8. */
export const LedgerRecordShape = z.strictObject({
  revision: Count,
  epochNumber: Count,
  at: z.number(),
  actor: z.unknown(),
  events: z.array(z.strictObject({ type: z.string(), payload: z.record(z.string(), z.unknown()) })),
  prevHash: Digest,
  hash: Digest,
})

/** What a session has been through: transcript, ledger, artifacts, receipts. Source: L1, L3, L5, A5. */
export const historyCommands = {
  'transcript.page': query(
    z.strictObject({ sessionId: EntityId, before: z.optional(Count), limit: limit(LIMITS.transcriptPageEntries) }),
    TranscriptPage,
  ),
  'ledger.page': query(
    z.strictObject({ sessionId: EntityId, after: z.optional(Count), limit: limit(LIMITS.ledgerPageRecords) }),
    z.strictObject({ records: z.array(LedgerRecordShape), nextAfter: z.nullable(Count) }),
  ),
  'artifact.get': query(
    z.strictObject({ hash: Digest }),
    z.strictObject({ bytes: Count, mimeType: z.string(), url: z.string() }),
  ),
  'receipt.query': query(
    z.strictObject({ sessionId: EntityId, operation: chars(64, 1), id: EntityId }),
    z.strictObject({ stored: z.boolean(), result: z.optional(z.unknown()) }),
  ),
} as const
