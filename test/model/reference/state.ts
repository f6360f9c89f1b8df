import type { RefTask } from './tasks.ts'

/** Who gave a command. */
export interface RefActor {
  readonly surface: string
  readonly clientInstanceId: string
}

/** A message's words, in canonical shape. */
export interface RefContent {
  readonly text: string
  readonly displayText?: string
}

/** A waiting message. */
export interface RefEntry {
  readonly entryId: string
  readonly messageId: string
  content: RefContent
  placement: 'current_turn' | 'next_turn'
  state: 'queued' | 'in_flight' | 'parked'
  readonly submittedBy: RefActor
  heldBy?: RefActor
  revision: number
  parkReason?: string
}

/** Where a turn stands, with exactly the keys a snapshot has; ids the leader draws begin with `?` until they are seen. */
export interface RefTurn {
  readonly turnId: string
  readonly runId: string
  readonly content: RefContent
  readonly userMessageId: string
  readonly submittedBy: RefActor | null
  readonly kind: string
  /** The turn it was made from, or the execution it carries out. */
  readonly source?: string
  readonly maxSteps?: number
  status: 'admitted' | 'running' | 'waiting_for_user' | 'completed' | 'failed' | 'cancelled'
  hasRun: boolean
  /** How many lines the transcript had at its end. */
  endLine?: number
  failureClass?: string
  abortSource?: string
  terminalEventId?: string
}

/** A wait for a person. */
export interface RefInteraction {
  readonly interactionId: string
  readonly turnId: string
  readonly runId: string
  readonly request: RefRequest
  revision: number
  status: 'pending' | 'answered' | 'closed'
  outcome: null | { kind: 'answer'; answer: unknown; by: unknown } | { kind: 'closure'; reason: string }
}

/** What the model's runs ask: one question of two options, or leave for one tool. */
export type RefRequest =
  | {
      readonly kind: 'question'
      readonly questions: readonly {
        readonly question: string
        readonly options: readonly { readonly label: string }[]
      }[]
    }
  | {
      readonly kind: 'permission'
      readonly toolCallId: string
      readonly title: string
      readonly toolKind: string
      readonly options: readonly { readonly optionId: string; readonly label: string; readonly kind: string }[]
    }

/** One line of the transcript, as far as the model tells it. */
export interface RefLine {
  readonly kind: string
  readonly id?: string
  readonly turnId: string
  readonly event?: string
  text?: string
  content?: RefContent
  status?: string
  outcome?: string
  isSteering?: boolean
}

/** A step that follows by itself: a run starts, a turn ends, waiting messages become a turn. */
export type RefEffect =
  | { readonly kind: 'start'; readonly turnId: string }
  | { readonly kind: 'end'; readonly turnId: string; readonly end: RefEnd }
  | { readonly kind: 'hand_on' }

/** How a run ends. */
export type RefEnd =
  | { readonly kind: 'completed' }
  | { readonly kind: 'failed'; readonly failureClass: string }
  | { readonly kind: 'cancelled'; readonly abortSource: string }

/** The stored outcome of a command; `turn` names the turn whose snapshot belongs into it. */
export interface RefReceipt {
  readonly operation: string
  readonly payload: string
  readonly result: unknown
  readonly turn?: { readonly turnId: string; readonly as: 'turn' | 'self' }
}

/** A plan as a run proposed it. */
export interface RefProposal {
  readonly planId: string
  readonly proposalId: string
  readonly revision: number
  readonly supersedesProposalId?: string
  readonly turnId: string
  readonly title: string
  readonly steps: readonly { readonly id: string; readonly title: string; readonly description: string }[]
  status: 'pending_approval' | 'stale' | 'approved'
  feedback?: string
}

/** The carrying out of a plan. */
export interface RefExecution {
  readonly executionId: string
  readonly proposalId: string
  readonly title: string
  status: 'active' | 'completed' | 'cancelled' | 'interrupted'
  readonly steps: { readonly id: string; status: string }[]
  interruptionReason?: string
}

/** The plan section; `lastId` names the execution that changed last while none is active. */
export interface RefPlan {
  storeVersion: number
  readonly proposals: RefProposal[]
  readonly executions: RefExecution[]
  lastId: string | null
}

/** One session. */
export interface RefSession {
  readonly sessionId: string
  title: string
  titleIsManual: boolean
  cwd: string
  readonly backend: string
  model?: string
  permissionMode: string
  collaborationMode: string
  alwaysAllowed?: readonly string[]
  isArchived: boolean
  isDeleted: boolean
  headerRevision: number
  /** Transitions so far. */
  revision: number
  queueRevision: number
  /** Root turns, in order of admission. */
  readonly turns: RefTurn[]
  queue: RefEntry[]
  readonly interactions: RefInteraction[]
  readonly plan: RefPlan
  /** In order of creation. */
  readonly tasks: RefTask[]
  readonly transcript: RefLine[]
  /** Entries that left the queue, and how. */
  readonly fates: Record<string, 'delivered' | 'removed'>
  readonly receipts: Record<string, RefReceipt>
  /** The message whose text streams, until something else seals it. */
  openText: string | null
  effects: RefEffect[]
  /** Snapshots a turn went through since the step began: a reply may show any of them. */
  shown: Record<string, unknown[]>
}

/** Everything the model knows. */
export interface RefRoot {
  readonly sessions: Record<string, RefSession>
  serial: number
  /** The one prompt whose run goes on until it is stopped, all others end by themselves; null: no run ends by itself. */
  readonly holdText: string | null
}

/** A session as it is when it has just been made. */
export function newSession({ sessionId, cwd, backend }: Pick<RefSession, 'sessionId' | 'cwd' | 'backend'>): RefSession {
  return {
    sessionId,
    title: '',
    titleIsManual: false,
    cwd,
    backend,
    permissionMode: 'ask',
    collaborationMode: 'agent',
    isArchived: false,
    isDeleted: false,
    headerRevision: 1,
    revision: 1,
    queueRevision: 0,
    turns: [],
    queue: [],
    interactions: [],
    plan: { storeVersion: 0, proposals: [], executions: [], lastId: null },
    tasks: [],
    transcript: [],
    fates: {},
    receipts: {},
    openText: null,
    effects: [],
    shown: {},
  }
}

/** A root with nothing in it. */
export function emptyRoot(holdText: string | null = null): RefRoot {
  return { sessions: {}, serial: 0, holdText }
}

/** An id the leader draws: unknown until it is seen. */
export function unknownId(root: RefRoot, what = ''): string {
  root.serial += 1
  return `?${what}${root.serial}`
}

/** The newest root turn, if it has not ended. */
export function activeTurn(session: RefSession): RefTurn | null {
  const newest = session.turns.at(-1)
  return newest === undefined || hasEnded(newest) ? null : newest
}

/** True for a turn that has ended. */
export function hasEnded(turn: RefTurn): boolean {
  return turn.status === 'completed' || turn.status === 'failed' || turn.status === 'cancelled'
}

/** A turn as clients see it. */
export function snapshotOf(session: RefSession, turn: RefTurn): Readonly<Record<string, unknown>> {
  const { turnId, runId, status, failureClass, abortSource, terminalEventId } = turn
  return {
    sessionId: session.sessionId,
    turnId,
    runId,
    status,
    ...(failureClass === undefined ? {} : { failureClass }),
    ...(abortSource === undefined ? {} : { abortSource }),
    ...(terminalEventId === undefined ? {} : { terminalEventId }),
  }
}

/** Notes that clients may have seen the turn as it is now. */
export function show(session: RefSession, turn: RefTurn): void {
  const seen = session.shown[turn.turnId] ?? []
  seen.push({ ...snapshotOf(session, turn) })
  session.shown[turn.turnId] = seen
}
