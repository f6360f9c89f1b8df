export { canonicalJson, isCanonicallyEqual, normalizeContent } from './canonical.ts'
export type { Fault, HostState } from './commands/host.ts'
export {
  type CommandName,
  commands,
  findOperation,
  type Input,
  type OperationName,
  type Result,
  receiptScope,
} from './commands/index.ts'
export type { Operation } from './commands/operation.ts'
export { Attachment, Content, Quote } from './entities/content.ts'
export {
  InteractionAnswer,
  InteractionOutcome,
  InteractionRequest,
  InteractionSnapshot,
} from './entities/interaction.ts'
export { PlanContent, PlanExecution, PlanProposal, PlanUpdate } from './entities/plan.ts'
export type { Actor, ClientActor } from './entities/primitives.ts'
export type {
  AgentPlan,
  CatalogRow,
  Freshness,
  PlanProjection,
  PresenceRow,
  SessionProjection,
  TasksProjection,
} from './entities/projection.ts'
export { QueueEntry, QueueProjection } from './entities/queue.ts'
export { SessionHeader } from './entities/session.ts'
export { Task } from './entities/task.ts'
export { TranscriptEntry, TranscriptPage } from './entities/transcript.ts'
export {
  Admission,
  Execution,
  isTerminal,
  Run,
  TurnSnapshot,
  type TurnStatus,
  type UserMessage,
} from './entities/turn.ts'
export {
  ERRORS,
  type ErrorCode,
  EXIT_CODES,
  HeadwaterError,
  isHeadwaterError,
  type RetryClass,
  type WireErrorCode,
} from './errors.ts'
export type { DomainEvent, EventPayloads, LedgerEvent, LedgerRecord, RunEvent } from './events.ts'
export { isEntityId } from './ids.ts'
export { LIMITS } from './limits.ts'
export { SessionReader, type ViewFacts } from './projection/read.ts'
export { DATA_FORMAT, PROTOCOL, VERSION } from './version.ts'
export { CLOSE_CODES } from './wire/close-codes.ts'
export type { CommandFrame, ReplyFrame, WireError } from './wire/frames.ts'
export { type LeaderAwareness, SUBPROTOCOL } from './wire/sync.ts'
