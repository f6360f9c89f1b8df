import { isCanonicallyEqual } from '../../../schema/canonical.ts'
import type { Input } from '../../../schema/commands/index.ts'
import type { SessionHeader } from '../../../schema/entities/session.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { truncateChars } from '../../../schema/text.ts'
import { type DecideContext, type Decision, event, refuse } from '../decision.ts'
import { activeTurn, type SessionState } from '../state.ts'

const sessionOf = (next: SessionState): unknown => ({ session: next.header })

/** Source: S1. */
export function decideCreate(state: SessionState, input: Input<'session.create'>, context: DecideContext): Decision {
  if (state.header !== null) return refuse('operation_conflict', 'a session with this id exists already')
  if (!context.backends.has(input.backend)) {
    const known = [...context.backends].join(', ')
    return refuse('invalid_request', `backend: '${input.backend}' is not known here; choose one of ${known}`, {
      path: 'backend',
    })
  }
  const header: SessionHeader = newHeader(input, context.at)
  return { kind: 'accept', events: [event('session_created', { header })], result: sessionOf }
}

/** The header of a new session. Source: S1. */
export function newHeader(input: Input<'session.create'>, at: number): SessionHeader {
  const { sessionId, title = '', cwd, backend, model, permissionMode = 'ask', collaborationMode = 'agent' } = input
  return {
    sessionId,
    title,
    titleIsManual: title !== '',
    cwd,
    backend,
    ...(model === undefined ? {} : { model }),
    permissionMode,
    collaborationMode,
    status: 'idle',
    isArchived: false,
    createdAt: at,
    lastActivityAt: at,
    revision: 1,
  }
}

/** Source: S2. */
export function decideUpdate(state: SessionState, input: Input<'session.update'>): Decision {
  const header = state.header as SessionHeader
  const { expectedRevision, patch } = input
  if (expectedRevision !== header.revision) {
    const conflict = { kind: 'revision_conflict', expected: expectedRevision, actual: header.revision }
    return { kind: 'accept', events: [], result: () => conflict }
  }
  const active = activeTurn(state)
  const changesMode =
    (patch.collaborationMode !== undefined && patch.collaborationMode !== header.collaborationMode) ||
    (patch.permissionMode !== undefined && patch.permissionMode !== header.permissionMode)
  if (active !== null && changesMode) {
    return refuse('session_busy', 'the modes cannot change while a turn runs', { turnId: active.admission.turnId })
  }
  if (patch.alwaysAllowed !== undefined) {
    const known = header.alwaysAllowed ?? []
    const kept = new Set(patch.alwaysAllowed)
    const isShorter = kept.size === patch.alwaysAllowed.length && [...kept].every(tool => known.includes(tool))
    if (!isShorter) {
      return refuse('invalid_request', 'patch.alwaysAllowed: the list can only be shortened', {
        path: 'patch.alwaysAllowed',
      })
    }
  }
  const changes = headerChanges(header, patch)
  const events = Object.keys(changes).length === 0 ? [] : [event('session_updated', { patch: changes })]
  return { kind: 'accept', events, result: next => ({ kind: 'committed', session: next.header }) }
}

/** What a patch really changes. A title that was taken away is given again by the next message, like that of a new session. */
function headerChanges(header: SessionHeader, patch: Input<'session.update'>['patch']): Partial<SessionHeader> {
  const changes: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(patch)) {
    if (value !== undefined && !isCanonicallyEqual(value, header[key as keyof SessionHeader] ?? null))
      changes[key] = value
  }
  const isManual = patch.title !== ''
  if (patch.title !== undefined && header.titleIsManual !== isManual) changes.titleIsManual = isManual
  return changes
}

/** Source: S3. */
export function decideArchive(state: SessionState, isArchived: boolean): Decision {
  if ((state.header as SessionHeader).isArchived === isArchived)
    return { kind: 'accept', events: [], result: sessionOf }
  const active = activeTurn(state)
  if (active !== null) return refuse('session_busy', undefined, { turnId: active.admission.turnId })
  if (state.queue.length > 0)
    return refuse('session_busy', 'messages wait in the queue', { queueCount: state.queue.length })
  if (state.interactions.length > 0) return refuse('session_busy', 'an interaction is pending')
  const changed = isArchived ? event('session_archived', {}) : event('session_unarchived', {})
  return { kind: 'accept', events: [changed], result: sessionOf }
}

/** The title a first message gives: its first line that says something. Source: S1. */
export function titleFrom(text: string): string {
  for (const line of text.split(/[\r\n\u2028\u2029]+/)) {
    const words = line.replace(/\s+/g, ' ').trim()
    if (words !== '') return truncateChars(words, LIMITS.autoTitleChars).trimEnd()
  }
  return ''
}

/** Deletes the session; its linked children go with it. Source: S5. */
export function decideDelete(state: SessionState, input: Input<'session.delete'>, context: DecideContext): Decision {
  const { revision } = state.header as SessionHeader
  const { expectedRevision } = input
  if (expectedRevision !== revision) {
    const conflict = { kind: 'revision_conflict', expected: expectedRevision, actual: revision }
    return { kind: 'accept', events: [], result: () => conflict }
  }
  const active = activeTurn(state)
  if (active !== null) return refuse('session_busy', undefined, { turnId: active.admission.turnId })
  const { busyChild } = context
  if (busyChild !== undefined) {
    return refuse('session_busy', 'a turn of a linked child is running', { sessionId: busyChild })
  }
  if (context.isCleaningUp) return { kind: 'wait_for_cleanup' }
  const deleted = event('session_deleted', {})
  return { kind: 'accept', events: [deleted], result: () => ({ kind: 'deleted' }), when: 'children_deleted' }
}

/** A linked child goes with its parent, whatever its revision is. Source: S5, T13. */
export function decideChildDelete(state: SessionState, { isCleaningUp }: DecideContext): Decision {
  const isGone = state.header === null || state.isDeleted === true
  const active = activeTurn(state)
  if (!isGone && active !== null) return refuse('session_busy', undefined, { turnId: active.admission.turnId })
  if (!isGone && isCleaningUp) return { kind: 'wait_for_cleanup' }
  return { kind: 'accept', events: isGone ? [] : [event('session_deleted', {})], result: () => null }
}

/** Allowed at any time: what unfinished work needs stays. The work is done between two decisions, and so before there is a receipt. Source: L6. */
export function decideCompact({ compacted }: DecideContext, input: Input<'session.compact'>): Decision {
  if (compacted === undefined) return { kind: 'wait_for_compaction', before: input.beforeRevision ?? null }
  return { kind: 'accept', events: [], result: () => compacted }
}
