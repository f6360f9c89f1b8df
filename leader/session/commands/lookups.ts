import type { InteractionSnapshot } from '../../../schema/entities/interaction.ts'
import type { Admission } from '../../../schema/entities/turn.ts'
import type { ClientCommand } from '../../domain/decide/command.ts'
import type { StoreReader } from '../../log/store.ts'
import type { StoredReceipt } from '../receipts.ts'
import { decodeJson } from '../record.ts'
import type { EntryRow } from '../rows.ts'

/** What a command needs to know from the disk before it can be decided. */
export interface Lookups {
  readonly receipt?: StoredReceipt
  readonly entryFate?: EntryRow['fate']
  readonly settledInteraction?: InteractionSnapshot
  readonly olderTurn?: Admission
}

/** What a command's look-ups are about. */
export interface LookupTarget {
  readonly sessionId: string
  readonly scope: string
  readonly identity: string
  /** The newest root turn when the command came; look-ups of that one are not needed. */
  readonly newestTurnId: string | null
}

/** Reads the receipt of a command's identity and whatever else its decision names. Source: A5. */
export async function lookUp(store: StoreReader, command: ClientCommand, target: LookupTarget): Promise<Lookups> {
  const { sessionId, scope, identity } = target
  const bytes = await store.receipt(sessionId, scope, identity)
  const receipt = bytes === undefined ? {} : { receipt: decodeJson<StoredReceipt>(bytes) }
  switch (command.operation) {
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
      const { turnId } = command.input
      if (turnId === target.newestTurnId) return receipt
      const row = await store.row('admission', sessionId, turnId)
      if (row === undefined) return receipt
      return { ...receipt, olderTurn: decodeJson<Admission>(row) }
    }
    default:
      return receipt
  }
}
