/** Loads the leader's side: the only part of it a replica may load, and only when it is needed. Source: architecture 3. */
export function loadLeader() {
  return import('../../../leader/index.ts')
}

/** The leader's side. */
export type LeaderModule = Awaited<ReturnType<typeof loadLeader>>

/** A leader in this process. */
export type Leader = Awaited<ReturnType<LeaderModule['startLeader']>>

/** A root that was found to be itself. */
export type RootCapability = Awaited<ReturnType<LeaderModule['resolveRoot']>>

/** What a leader logs to. */
export type LeaderLogger = ReturnType<LeaderModule['createLogger']>

/** What a look at a root shows. */
export type Examination = Awaited<ReturnType<LeaderModule['examineRoot']>>
