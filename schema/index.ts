export { canonicalJson, isCanonicallyEqual, normalizeContent } from './canonical.ts'
export type { Fault, HostState } from './commands/host.ts'
export { type CommandName, commands, type Input, type OperationName, type Result } from './commands/index.ts'
export type { Attachment, Content, Quote } from './entities/content.ts'
export type {
  ClosureReason,
  InteractionAnswer,
  InteractionOutcome,
  InteractionRequest,
  InteractionSnapshot,
} from './entities/interaction.ts'
export type { Actor, ClientActor } from './entities/primitives.ts'
export type { AgentPlan, CatalogRow, Freshness, PresenceRow, SessionProjection } from './entities/projection.ts'
export type { ParkReason, QueueEntry, QueueProjection } from './entities/queue.ts'
export type { CollaborationMode, PermissionMode, SessionHeader, SessionStatus } from './entities/session.ts'
export type { ArtifactReference, ToolStatus, TranscriptEntry, TranscriptPage } from './entities/transcript.ts'
export type { Admission, Execution, Placement, Run, TurnSnapshot, TurnStatus } from './entities/turn.ts'
export { ERRORS, type ErrorCode, EXIT_CODES, HeadwaterError, isHeadwaterError, type RetryClass } from './errors.ts'
export type { EventPayloads, EventType, LedgerEvent, LedgerRecord } from './events.ts'
export { isEntityId } from './ids.ts'
export { LIMITS } from './limits.ts'
export { SessionReader, type ViewFacts } from './projection/read.ts'
export { PROTOCOL, VERSION } from './version.ts'
export { CLOSE_CODES } from './wire/close-codes.ts'
export type { WireError } from './wire/frames.ts'
export { BEARER_PREFIX, type LeaderAwareness, SUBPROTOCOL } from './wire/sync.ts'
