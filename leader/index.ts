export { backupRoot } from './backup/backup-root.ts'
export { type RestoredRoot, restoreRoot } from './backup/restore-root.ts'
export type { Classification } from './domain/facts.ts'
export {
  type Backend,
  BackendFailure,
  type ChildRun,
  type ChildStart,
  type ChildTools,
  type ProcessIdentity,
  type RunContext,
  type SteeringMessage,
} from './execution/backend.ts'
export {
  type ConfiguredBackend,
  createConfiguredBackends,
  readConfiguredBackends,
} from './execution/configured.ts'
export { type RootOwner, tryAcquireRootOwner } from './log/root/owner.ts'
export { type RootReader, tryAcquireRootReader } from './log/root/reader.ts'
export { type RootCapability, resolveRoot } from './log/root/resolve.ts'
export type { OfflineStore } from './offline/offline-store.ts'
export { openStore } from './offline/open-store.ts'
export { type Repaired, repairSession } from './repair/repair-session.ts'
export { type Accepted, acceptRegression } from './root-care/accept-regression.ts'
export { type Adopted, adoptRoot } from './root-care/adopt-root.ts'
export { type Examination, examineRoot, tightenRoot } from './root-care/examine-root.ts'
export { type Leader, type StartLeaderOptions, startLeader } from './start-leader.ts'
export { createLogger, type Logger } from './telemetry/logger.ts'
export { RotatingFile } from './telemetry/rotating-file.ts'
export { type DirectorySummary, verifyDirectory } from './verify/verify-directory.ts'
