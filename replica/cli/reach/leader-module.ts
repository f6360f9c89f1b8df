import type { Fault, HostState } from '../../../schema/commands/host.ts'

/** What a root is recognised by; opaque here but for these. */
export interface RootCapability {
  readonly path: string
  readonly rootId: string
}

/** A claim on a root. */
export interface RootClaim {
  readonly capability: RootCapability
  close(): Promise<void>
}

/** A leader in this process. `closed` rejects with what would be an exit code. Source: interfaces 3. */
export interface Leader {
  readonly hostEpoch: string
  /** Null for a leader without a TCP port. */
  readonly url: string | null
  readonly socketPath: string
  readonly state: HostState
  close(): Promise<void>
  readonly closed: Promise<void>
}

/** What is logged to; opaque here. */
export interface LeaderLogger {
  info(fields: object, message: string): void
}

/** The leader's side as the command line uses it: the only part of it a replica may load, and only when it is needed. */
export interface LeaderModule {
  resolveRoot(options: { readonly path: string; readonly create?: boolean }): Promise<RootCapability>
  tryAcquireRootOwner(capability: RootCapability): Promise<RootClaim | undefined>
  tryAcquireRootReader(capability: RootCapability): Promise<RootClaim | undefined>
  startLeader(options: {
    readonly owner: RootClaim
    readonly idleGraceMs?: number
    readonly backends?: Readonly<Record<string, unknown>>
    readonly host?: string
    readonly port?: number
    readonly logger?: LeaderLogger
  }): Promise<Leader>
  openStore(claim: RootClaim): Promise<{ verify(): AsyncIterable<Fault>; close(): Promise<void> }>
  createLogger(options: { readonly destination: { readonly stream: { write(line: string): void } } }): LeaderLogger
  readonly RotatingFile: new (path: string) => { write(line: string): void; close(): void }
}

/** Loads the leader's side. */
export async function loadLeader(): Promise<LeaderModule> {
  return (await import('../../../leader/index.ts')) as unknown as LeaderModule
}
