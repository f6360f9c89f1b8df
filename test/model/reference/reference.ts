import { DECIDE, headerView, interactionView, type RefCommand, type Verdict } from './commands.ts'
import { DECIDE_ENTRY } from './entries.ts'
import { DECIDE_MADE, fork } from './made.ts'
import { planView } from './plans.ts'
import { entryView } from './queue.ts'
import { newSession, type RefReceipt, type RefRoot, type RefSession, snapshotOf } from './state.ts'
import { tasksView } from './tasks.ts'
import { mergedLines } from './turns.ts'

/** What a reply may be: a result (with the turn whose snapshot stands in it), or a refusal. */
export type RefReply =
  | {
      readonly ok: true
      readonly result: unknown
      readonly turn?: { readonly turnId: string; readonly as: 'turn' | 'self' }
    }
  | { readonly ok: false; readonly code: string }

/** The field that identifies a command, and the name its receipts are kept under where that is not its own. */
const IDENTITIES: Readonly<Record<string, string>> = {
  'session.create': 'sessionId',
  'session.fork': 'newSessionId',
  'turn.start': 'turnId',
  'turn.regenerate': 'turnId',
  'plan.turn.start': 'turnId',
  'turn.stop': 'runId',
  'turn.interrupt': 'interruptId',
  'turn.message.submit': 'messageId',
  'queue.retract': 'retractId',
  'interaction.answer': 'interactionId',
}
const SHARED_SCOPE: ReadonlySet<string> = new Set(['turn.start', 'turn.regenerate', 'plan.turn.start'])

/** The identity of a command. */
export function identityOf({ operation, input }: Pick<RefCommand, 'operation' | 'input'>): string {
  return String(input[IDENTITIES[operation] ?? 'operationId'])
}

function receiptKey(command: RefCommand): string {
  return `${SHARED_SCOPE.has(command.operation) ? 'turn' : command.operation} ${identityOf(command)}`
}

/** What makes two commands the same: everything but the epoch they were written under. */
function payloadOf({ operation, input }: RefCommand): string {
  const { originHostEpoch: _epoch, ...rest } = input
  return JSON.stringify([operation, Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1))])
}

/** The stored receipt of a command, if it was accepted. */
export function receiptOf(root: RefRoot, command: RefCommand): RefReceipt | undefined {
  const stored = root.sessions[placeOf(command)]?.receipts[receiptKey(command)]
  return stored?.operation === command.operation ? stored : undefined
}

/** The session a command is decided in: a fork, in the one it makes. */
export function placeOf({ operation, input }: RefCommand): string {
  return operation === 'session.fork' ? String(input.newSessionId) : input.sessionId
}

const MAKES: ReadonlySet<string> = new Set(['session.create', 'session.fork'])

/** Does a command and says what its sender may be told. */
export function execute(root: RefRoot, command: RefCommand): RefReply {
  const { operation } = command
  const existing = root.sessions[placeOf(command)]
  if (existing === undefined && !MAKES.has(operation)) return { ok: false, code: 'not_found' }
  const stored = operation === 'interaction.answer' ? undefined : existing?.receipts[receiptKey(command)]
  if (existing?.isDeleted === true) return onTombstone(command, stored)
  if (stored !== undefined) return replay(stored, command)
  const verdict = decide(root, existing, command)
  if ('code' in verdict) return { ok: false, code: verdict.code }
  const session = root.sessions[placeOf(command)] as RefSession
  const turn = verdict.turn === undefined ? {} : { turn: verdict.turn }
  const { result } = verdict
  session.receipts[receiptKey(command)] = { operation, payload: payloadOf(command), result, ...turn }
  return { ok: true, result, ...turn }
}

/** Of a deleted session nothing is left but the answer to its deletion, and that its id is used up. */
function onTombstone(command: RefCommand, stored: RefReceipt | undefined): RefReply {
  if (MAKES.has(command.operation)) return { ok: false, code: 'operation_conflict' }
  const isDeletion = (stored?.result as { kind?: string } | undefined)?.kind === 'deleted'
  return stored !== undefined && isDeletion ? replay(stored, command) : { ok: false, code: 'not_found' }
}

function replay(stored: RefReceipt, command: RefCommand): RefReply {
  const isSame = stored.operation === command.operation && stored.payload === payloadOf(command)
  if (!isSame) return { ok: false, code: 'operation_conflict' }
  return { ok: true, result: stored.result, ...(stored.turn === undefined ? {} : { turn: stored.turn }) }
}

function decide(root: RefRoot, session: RefSession | undefined, command: RefCommand): Verdict {
  if (command.operation === 'session.create') return create(root, session, command)
  if (command.operation === 'session.fork') return fork(root, session, command)
  const { operation } = command
  const found = DECIDE[operation] ?? DECIDE_ENTRY[operation] ?? DECIDE_MADE[operation]
  if (found === undefined || session === undefined) throw new Error(`the reference does not know ${command.operation}`)
  return found(root, session, command)
}

function create(root: RefRoot, existing: RefSession | undefined, { input }: RefCommand): Verdict {
  if (existing !== undefined) return { code: 'operation_conflict' }
  const { sessionId, title = '', cwd, backend } = input as unknown as RefSession
  const session = newSession({ sessionId, cwd, backend })
  session.title = title
  session.titleIsManual = title !== ''
  session.permissionMode = String(input.permissionMode ?? 'ask')
  session.collaborationMode = String(input.collaborationMode ?? 'agent')
  root.sessions[sessionId] = session
  return { result: { session: headerView(session) } }
}

/** What every replica must see of a session, without times and without ids of no consequence. */
export function viewOf(session: RefSession): Readonly<Record<string, unknown>> {
  const newest = session.turns.at(-1)
  const entries = (placement: string) => session.queue.filter(e => e.placement === placement).map(entryView)
  const parked = session.queue.find(entry => entry.state === 'parked')
  return {
    session: headerView(session),
    revision: session.revision,
    rootTurn: newest === undefined ? null : snapshotOf(session, newest),
    queue: {
      queueRevision: session.queueRevision,
      steering: entries('current_turn'),
      followup: entries('next_turn'),
      isParked: parked !== undefined,
    },
    pending: session.interactions.filter(one => one.status === 'pending').map(one => interactionView(session, one)),
    plan: planView(session),
    tasks: tasksView(session),
    lines: mergedLines(session.transcript),
  }
}
