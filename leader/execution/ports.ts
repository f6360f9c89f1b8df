/** Where texts too large for a record are kept, by the hash of their bytes. Source: L5. */
export interface ArtifactSink {
  /** Resolves to `sha256:<64 hex>` when the bytes are durable or sure to be so before whatever names them. */
  put(bytes: Uint8Array, mimeType: string): Promise<{ readonly hash: string }>
  /** The bytes under a hash, or null. Absent: attachments by hash cannot be read. */
  read?(hash: string): Promise<Uint8Array | null>
}

/** What the execution part logs to; a pino logger is one. Words of users and agents are never among the fields. */
export interface ExecutionLog {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

/** Counters of the runs. Source: T9. */
export interface ExecutionMetrics {
  runStarted(backend: string): void
  runEnded(backend: string, kind: 'completed' | 'failed' | 'cancelled'): void
  /** A backend ignored its stop until the cut-off. */
  runCutOff(backend: string): void
  /** A backend did something after its run was stopped or over; it had no effect. */
  lateOutput(backend: string): void
}

/** Drops everything. */
export const silentLog: ExecutionLog = { debug() {}, info() {}, warn() {} }
