import type { InteractionSnapshot } from '../../../schema/entities/interaction.ts'
import type { PlanExecution } from '../../../schema/entities/plan.ts'
import type { Admission } from '../../../schema/entities/turn.ts'
import { LIMITS } from '../../../schema/limits.ts'
import type { ClientCommand } from '../../domain/decide/command.ts'
import type { ForkSource } from '../../domain/decision.ts'
import type { StoreReader } from '../../log/store.ts'
import type { StoredReceipt } from '../receipts.ts'
import { decodeJson } from '../record.ts'
import type { ArtifactGate } from '../removal/artifact-gate.ts'
import type { EntryRow, SessionRow } from '../rows.ts'

/** What a command needs to know from the disk before it can be decided. */
export interface Lookups {
  readonly receipt?: StoredReceipt
  readonly entryFate?: EntryRow['fate']
  readonly settledInteraction?: InteractionSnapshot
  readonly olderTurn?: Admission
  /** Source: T10. */
  readonly sourceTurn?: Admission
  /** Source: S5. */
  readonly busyChild?: string
  /** Source: S6. */
  readonly forkSource?: ForkSource
  /** Source: P7, P8, P10. */
  readonly namedExecution?: PlanExecution
  /** An attachment of the command's content names an artifact that is not here. Source: C1. */
  readonly missingArtifact?: string
}

/** What a command's look-ups are about. */
export interface LookupTarget {
  readonly sessionId: string
  readonly scope: string
  readonly identity: string
  /** What a session holds that is to be forked; undefined: there is none. Errors: `session_damaged`. Source: S6. */
  readonly forkSource: (sessionId: string, turnId: string) => Promise<ForkSource | undefined>
  /** The artifacts that the command names; they are held. Source: C1. */
  readonly artifacts: readonly string[]
  readonly gate: ArtifactGate
}

/** Reads the receipt of a command's identity and whatever else its decision names. Source: A5. */
export async function lookUp(store: StoreReader, command: ClientCommand, target: LookupTarget): Promise<Lookups> {
  const { sessionId, scope, identity } = target
  const bytes = await store.receipt(sessionId, scope, identity)
  const receipt = bytes === undefined ? {} : { receipt: decodeJson<StoredReceipt>(bytes) }
  if (target.artifacts.length === 0) return await lookUpNamed(store, command, target, receipt)
  const missingArtifact = await target.gate.firstMissing(target.artifacts)
  const found = await lookUpNamed(store, command, target, receipt)
  return missingArtifact === undefined ? found : { ...found, missingArtifact }
}

/** What the command names beside its identity. */
async function lookUpNamed(
  store: StoreReader,
  command: ClientCommand,
  target: LookupTarget,
  receipt: Pick<Lookups, 'receipt'>,
): Promise<Lookups> {
  const { sessionId } = target
  switch (command.operation) {
    case 'queue.hold':
    case 'queue.edit':
    case 'queue.remove':
    case 'queue.move':
    case 'queue.promote': {
      const row = await store.row('entry', sessionId, command.input.entryId)
      return row === undefined ? receipt : { ...receipt, entryFate: decodeJson<EntryRow>(row).fate }
    }
    case 'interaction.answer': {
      const row = await store.row('interaction', '', command.input.interactionId)
      if (row === undefined) return receipt
      const snapshot = decodeJson<InteractionSnapshot>(row)
      const isSettled = snapshot.sessionId === sessionId && snapshot.status !== 'pending'
      return isSettled ? { ...receipt, settledInteraction: snapshot } : receipt
    }
    case 'turn.start':
    case 'turn.stop':
    case 'turn.interrupt': {
      // Also of the newest turn: it may be an older one when the command is decided.
      const row = await store.row('admission', sessionId, command.input.turnId)
      if (row === undefined) return receipt
      return { ...receipt, olderTurn: decodeJson<Admission>(row) }
    }
    case 'session.fork': {
      const forkSource = await target.forkSource(command.input.sessionId, command.input.fromTurnId)
      return forkSource === undefined ? receipt : { ...receipt, forkSource }
    }
    case 'session.delete': {
      const busyChild = await findBusyChild(store, sessionId, LIMITS.childDepth)
      return busyChild === undefined ? receipt : { ...receipt, busyChild }
    }
    case 'turn.regenerate': {
      const { turnId, sourceTurnId } = command.input
      const olderTurn = await readAdmission(store, sessionId, turnId)
      const sourceTurn = await readAdmission(store, sessionId, sourceTurnId)
      return {
        ...receipt,
        ...(olderTurn === undefined ? {} : { olderTurn }),
        ...(sourceTurn === undefined ? {} : { sourceTurn }),
      }
    }
    case 'plan.control': {
      const namedExecution = await readExecution(store, sessionId, namedExecutionId(command, undefined))
      return { ...receipt, ...(namedExecution === undefined ? {} : { namedExecution }) }
    }
    case 'plan.turn.start': {
      const olderTurn = await readAdmission(store, sessionId, command.input.turnId)
      const namedExecution = await readExecution(store, sessionId, namedExecutionId(command, olderTurn))
      return {
        ...receipt,
        ...(olderTurn === undefined ? {} : { olderTurn }),
        ...(namedExecution === undefined ? {} : { namedExecution }),
      }
    }
    default:
      return receipt
  }
}

/** The execution that a command is about: the one it names, or the one its turn was admitted for. Source: P7, P8, P10. */
export function namedExecutionId(command: ClientCommand, olderTurn: Admission | undefined): string | undefined {
  if (command.operation !== 'plan.control' && command.operation !== 'plan.turn.start') return undefined
  if ('executionId' in command.input) return command.input.executionId
  return olderTurn?.execution.kind === 'plan' ? olderTurn.execution.executionId : undefined
}

async function readExecution(
  store: StoreReader,
  sessionId: string,
  executionId: string | undefined,
): Promise<PlanExecution | undefined> {
  const row = executionId === undefined ? undefined : await store.row('execution', sessionId, executionId)
  return row === undefined ? undefined : decodeJson<PlanExecution>(row)
}

async function readAdmission(store: StoreReader, sessionId: string, turnId: string): Promise<Admission | undefined> {
  const row = await store.row('admission', sessionId, turnId)
  return row === undefined ? undefined : decodeJson<Admission>(row)
}

const PAGE_CHILDREN = 256

/** A linked child, or a child of one, whose turn runs. Source: S5. */
async function findBusyChild(store: StoreReader, sessionId: string, depth: number): Promise<string | undefined> {
  for (let page = await childrenOf(store, sessionId); page.length > 0; ) {
    for (const childId of page) {
      const row = await store.row('session', '', childId)
      const status = row === undefined ? 'idle' : decodeJson<SessionRow>(row).header.status
      if (status === 'running' || status === 'waiting_for_user') return childId
      const below = depth > 0 ? await findBusyChild(store, childId, depth - 1) : undefined
      if (below !== undefined) return below
    }
    page = await childrenOf(store, sessionId, page.at(-1))
  }
  return undefined
}

/** The linked children of a session, some at a time, in order of their ids. Source: T13. */
export async function childrenOf(store: StoreReader, sessionId: string, after = ''): Promise<readonly string[]> {
  const prefix = `${sessionId}.`
  const rows = await store.rows('child', '', { after: `${prefix}${after}`, limit: PAGE_CHILDREN })
  return rows.flatMap(({ id }) => (id.startsWith(prefix) ? [id.slice(prefix.length)] : []))
}
