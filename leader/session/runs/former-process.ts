import type { AgentSession } from '../../domain/state.ts'
import type { ProcessIdentity } from '../../execution/backend.ts'
import type { SessionEnvironment } from '../environment.ts'

/** What is recorded of a process: who it is, and of which root's run; absent in records of builds that did not note it. */
type RecordedProcess = ProcessIdentity & { readonly root?: string }

/** The process as it is recorded for a run of this root. Source: X15. */
export function recordedProcess(process: ProcessIdentity, rootMark: string | undefined): Record<string, unknown> {
  return { ...process, ...(rootMark === undefined ? {} : { root: rootMark }) }
}

/**
 * The process that a run of an earlier epoch of this root has left, as far as one was recorded. What came with an import, or was there when
 * this root was copied, may be another root's agent at its work. Source: X15, R2, D5.
 */
export function formerProcess(
  agent: AgentSession | null,
  { epochNumber, foreignThrough = 0, rootMark }: SessionEnvironment,
): ProcessIdentity | null {
  if (agent === null || agent.process === null) return null
  const { root, ...process } = agent.process as unknown as RecordedProcess
  const isForeign = root !== undefined && rootMark !== undefined && root !== rootMark
  const isFormer = agent.processEpoch < epochNumber && agent.processEpoch > foreignThrough
  return isFormer && !isForeign ? process : null
}
