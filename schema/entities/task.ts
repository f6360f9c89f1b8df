import * as z from 'zod/mini'
import { LIMITS } from '../limits.ts'
import { chars, EntityId, Instant } from './primitives.ts'

/** Where a task stands. Source: K1. */
export const TaskStatus = z.enum(['pending', 'in_progress', 'blocked', 'completed', 'failed', 'cancelled'])
export type TaskStatus = z.infer<typeof TaskStatus>

const Text = chars(LIMITS.taskTextChars, 1)
/** The key of a task in its ledger: `T1`, `T1.2`. */
export const TaskKey = z.string().check(z.maxLength(LIMITS.taskKeyChars), z.regex(/^T[1-9][0-9]*(\.[1-9][0-9]*)*$/))
/** A task's id or its key. */
export const TaskRef = z.union([TaskKey, EntityId])

/** One task of a session's ledger. Source: K1. */
export const Task = z.strictObject({
  id: EntityId,
  key: TaskKey,
  subject: Text,
  status: TaskStatus,
  parentId: z.optional(EntityId),
  owner: z.optional(Text),
  blockedReason: z.optional(Text),
  failureReason: z.optional(Text),
  completionEvidence: z.optional(Text),
  createdAt: Instant,
  updatedAt: Instant,
  endedAt: z.optional(Instant),
})
export type Task = z.infer<typeof Task>

/** What a run gives to make a task. `parent` is the id or key of another one. Source: K3. */
export const TaskDraft = z.strictObject({
  subject: Text,
  parent: z.optional(TaskRef),
  owner: z.optional(Text),
})
export type TaskDraft = z.infer<typeof TaskDraft>

/** What a run changes of a task. `reopen` allows completed → in_progress and cancelled → pending. Source: K2. */
export const TaskChange = z.strictObject({
  task: TaskRef,
  status: z.optional(TaskStatus),
  subject: z.optional(Text),
  owner: z.optional(Text),
  blockedReason: z.optional(Text),
  failureReason: z.optional(Text),
  completionEvidence: z.optional(Text),
  reopen: z.optional(z.boolean()),
})
export type TaskChange = z.infer<typeof TaskChange>

/** Which status may follow which; those that need `reopen: true` stand in REOPENINGS. Source: K2. */
export const TASK_TRANSITIONS: { readonly [S in TaskStatus]: readonly TaskStatus[] } = {
  pending: ['in_progress', 'cancelled'],
  in_progress: ['blocked', 'completed', 'failed', 'cancelled'],
  blocked: ['in_progress', 'cancelled', 'failed'],
  failed: ['pending', 'cancelled'],
  completed: [],
  cancelled: [],
}

/** Transitions out of an end, only with `reopen: true`. Source: K2. */
export const REOPENINGS: { readonly [S in TaskStatus]?: TaskStatus } = {
  completed: 'in_progress',
  cancelled: 'pending',
}

const ENDS: ReadonlySet<TaskStatus> = new Set(['completed', 'failed', 'cancelled'])

/** True for a status in which nobody works on the task any more; `endedAt` says since when. Source: K1. */
export function isTaskEnd(status: TaskStatus): boolean {
  return ENDS.has(status)
}

/** The order of keys: number by number, a parent before its children. Source: K1. */
export function compareTaskKeys(a: string, b: string): number {
  const left = keyNumbers(a)
  const right = keyNumbers(b)
  for (let i = 0; i < left.length && i < right.length; i++) {
    const difference = (left[i] as number) - (right[i] as number)
    if (difference !== 0) return difference
  }
  return left.length - right.length
}

function keyNumbers(key: string): number[] {
  return key.slice(1).split('.').map(Number)
}
