import type { ClosureReason } from '../../schema/entities/interaction.ts'
import type { ExecutionStep, InterruptionReason, PlanExecution, PlanProposal } from '../../schema/entities/plan.ts'
import type { ParkReason, QueueEntry } from '../../schema/entities/queue.ts'
import type { SessionStatus } from '../../schema/entities/session.ts'
import type { TaskStatus } from '../../schema/entities/task.ts'
import type { ToolStatus } from '../../schema/entities/transcript.ts'
import type { TurnSnapshot, TurnStatus } from '../../schema/entities/turn.ts'

/*
 * What is stored as one word for programs, in words for people: the same in every surface. A word of a later build, or of an agent's own, is
 * shown as it is, with spaces.
 */

type Words<K extends string> = Readonly<Record<K, string>>

const SESSION: Words<SessionStatus> = {
  idle: 'idle',
  running: 'running',
  waiting_for_user: 'waits for an answer',
  damaged: 'damaged',
}

const TURN: Words<TurnStatus> = {
  admitted: 'waits for its start',
  running: 'is running',
  waiting_for_user: 'waits for an answer',
  completed: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
}

const FAILURE: Words<string> = {
  app_restarted: 'the leader ended while it ran',
  backend_error: 'the agent failed',
  backend_exited: "the agent's process ended",
  network: 'the network failed',
  auth: 'the agent wants a login',
  rate_limit: 'the agent was asked too often',
  timeout: 'it took too long',
  storage: 'its end could not be stored',
  step_cap_reached: 'it reached its limit of steps',
}

const ABORT: Words<string> = {
  user_stop: 'somebody stopped it',
  leader_shutdown: 'the leader was stopped',
  parent_stopped: 'the session that started it was stopped',
  parent_deleted: 'the session that started it was removed',
  unknown: 'nobody knows why',
}

const PARK: Words<ParkReason> = {
  turn_stopped: 'a turn was stopped',
  leader_stopped: 'the leader was stopped',
  leader_restarted: 'the leader ended and started again',
}

const CLOSURE: Words<ClosureReason> = {
  turn_stopped: 'the turn was stopped',
  turn_terminal: 'the turn ended',
  host_restarted: 'the leader ended and started again',
  expired: 'nobody answered in time',
}

const INTERRUPTION: Words<InterruptionReason> = {
  turn_failed: 'its turn failed',
  turn_cancelled: 'its turn was cancelled',
  leader_stopped: 'the leader was stopped',
  leader_restarted: 'the leader ended and started again',
}

const ENTRY: Words<QueueEntry['state']> = {
  queued: 'waits',
  in_flight: 'on its way',
  parked: 'parked',
}

const TOOL: Words<ToolStatus> = {
  pending: 'waiting',
  in_progress: 'running',
  completed: 'completed',
  failed: 'failed',
  unknown: 'outcome unknown',
}

const PROPOSAL: Words<PlanProposal['status']> = {
  pending_approval: 'waits for approval',
  stale: 'not current any more',
  approved: 'approved',
}

const EXECUTION: Words<PlanExecution['status']> = {
  active: 'being carried out',
  completed: 'carried out',
  cancelled: 'given up',
  interrupted: 'interrupted',
}

const STEP: Words<ExecutionStep['status']> = {
  pending: 'to do',
  in_progress: 'in progress',
  completed: 'done',
  skipped: 'skipped',
}

const TASK: Words<TaskStatus> = {
  pending: 'to do',
  in_progress: 'in progress',
  blocked: 'blocked',
  completed: 'done',
  failed: 'failed',
  cancelled: 'dropped',
}

const SURFACE: Words<string> = {
  run: 'the command line',
  tui: 'a terminal',
  desktop: 'the page',
  acp: 'an editor',
}

/** What a turn that ended otherwise than completed says about it. */
export type TurnEnd =
  | Pick<Extract<TurnSnapshot, { status: 'failed' }>, 'failureClass' | 'failureMessage'>
  | Pick<Extract<TurnSnapshot, { status: 'cancelled' }>, 'abortSource'>

function wordsOf(table: Words<string>, word: string): string {
  return (Object.hasOwn(table, word) ? table[word] : undefined) ?? word.replaceAll('_', ' ')
}

/** From where somebody works: the kind of a replica; one that is not ours as it calls itself. */
export const surfaceWords = (surface: string): string =>
  (Object.hasOwn(SURFACE, surface) ? SURFACE[surface] : undefined) ?? surface

/** How a session is. */
export const sessionWords = (status: SessionStatus): string => wordsOf(SESSION, status)

/** How a turn stands. */
export const turnWords = (status: TurnStatus): string => wordsOf(TURN, status)

/** Why a turn failed: the class of its failure. */
export const failureWords = (failureClass: string): string => wordsOf(FAILURE, failureClass)

/** Why a turn was cancelled: who or what did it. */
export const abortWords = (abortSource: string): string => wordsOf(ABORT, abortSource)

/** Why waiting messages do not run by themselves. */
export const parkWords = (reason: ParkReason): string => wordsOf(PARK, reason)

/** Why a question was closed without an answer. */
export const closureWords = (reason: ClosureReason): string => wordsOf(CLOSURE, reason)

/** Why a plan is not carried out further. */
export const interruptionWords = (reason: InterruptionReason): string => wordsOf(INTERRUPTION, reason)

/** Where a waiting message is. */
export const entryWords = (state: QueueEntry['state']): string => wordsOf(ENTRY, state)

/** Where a tool call stands. */
export const toolWords = (status: ToolStatus): string => wordsOf(TOOL, status)

/** Where a proposed plan stands. */
export const proposalWords = (status: PlanProposal['status']): string => wordsOf(PROPOSAL, status)

/** Where the newest proposed plan stands: none has taken its place, so a person sent it back or dropped it. */
export function latestProposalWords({ status, feedback }: Pick<PlanProposal, 'status' | 'feedback'>): string {
  if (status !== 'stale') return proposalWords(status)
  return feedback === undefined ? 'dropped' : 'changes were asked for'
}

/** Where the carrying out of a plan stands. */
export const executionWords = (status: PlanExecution['status']): string => wordsOf(EXECUTION, status)

/** Where a step of a plan stands; an agent's own word as it is. */
export const stepWords = (status: string): string => wordsOf(STEP, status)

/** Where a task stands. */
export const taskWords = (status: TaskStatus): string => wordsOf(TASK, status)

/** How a turn ended otherwise than completed, with the agent's own words where there are any. */
export function endWords(turn: TurnEnd): string {
  if ('abortSource' in turn) return abortWords(turn.abortSource)
  const { failureClass, failureMessage } = turn
  return failureMessage === undefined ? failureWords(failureClass) : `${failureWords(failureClass)}: ${failureMessage}`
}
