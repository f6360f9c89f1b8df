import { DECIDE, headerView, interactionView, type RefCommand, type Verdict } from './commands.ts'
import { DECIDE_ENTRY } from './entries.ts'
import { entryView } from './queue.ts'
import { activeTurn, type RefReceipt, type RefRoot, type RefSession, snapshotOf } from './state.ts'
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
  const stored = root.sessions[command.input.sessionId]?.receipts[receiptKey(command)]
  return stored?.operation === command.operation ? stored : undefined
}

/** Does a command and says what its sender may be told. */
export function execute(root: RefRoot, command: RefCommand): RefReply {
  const { operation } = command
  const existing = root.sessions[command.input.sessionId]
  if (existing === undefined && operation !== 'session.create') return { ok: false, code: 'not_found' }
  const stored = operation === 'interaction.answer' ? undefined : existing?.receipts[receiptKey(command)]
  if (stored !== undefined) return replay(stored, command)
  const verdict = decide(root, existing, command)
  if ('code' in verdict) return { ok: false, code: verdict.code }
  const session = root.sessions[command.input.sessionId] as RefSession
  const turn = verdict.turn === undefined ? {} : { turn: verdict.turn }
  const { result } = verdict
  session.receipts[receiptKey(command)] = { operation, payload: payloadOf(command), result, ...turn }
  return { ok: true, result, ...turn }
}

function replay(stored: RefReceipt, command: RefCommand): RefReply {
  const isSame = stored.operation === command.operation && stored.payload === payloadOf(command)
  if (!isSame) return { ok: false, code: 'operation_conflict' }
  return { ok: true, result: stored.result, ...(stored.turn === undefined ? {} : { turn: stored.turn }) }
}

function decide(root: RefRoot, session: RefSession | undefined, command: RefCommand): Verdict {
  if (command.operation === 'session.create') return create(root, session, command)
  const found = DECIDE[command.operation] ?? DECIDE_ENTRY[command.operation]
  if (found === undefined || session === undefined) throw new Error(`the reference does not know ${command.operation}`)
  return found(root, session, command)
}

function create(root: RefRoot, existing: RefSession | undefined, { input }: RefCommand): Verdict {
  if (existing !== undefined) return { code: 'operation_conflict' }
  const { sessionId, title = '', cwd, backend } = input as unknown as RefSession
  const session: RefSession = {
    sessionId,
    title,
    titleIsManual: title !== '',
    cwd,
    backend,
    permissionMode: String(input.permissionMode ?? 'ask'),
    collaborationMode: String(input.collaborationMode ?? 'agent'),
    isArchived: false,
    headerRevision: 1,
    revision: 1,
    queueRevision: 0,
    turns: [],
    queue: [],
    interactions: [],
    transcript: [],
    fates: {},
    receipts: {},
    openText: null,
    effects: [],
    shown: {},
  }
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
    lines: mergedLines(session.transcript),
  }
}

/** True while the session has something under way. */
export function isBusy(session: RefSession): boolean {
  return activeTurn(session) !== null
}
