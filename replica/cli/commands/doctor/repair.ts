import type { CommandContext, Outcome } from '../../context.ts'
import { CliFailure } from '../../failure.ts'
import { chosenRoot } from '../../reach/here.ts'
import { loadLeader } from '../../reach/leader-module.ts'

/** `headwater doctor --repair`: builds what is derived of a session from its ledger, or cuts it back. Needs the root for itself. Source: D2. */
export async function repair(context: CommandContext, sessionId: string, to: number | undefined): Promise<Outcome> {
  const leader = await loadLeader()
  const path = chosenRoot(context.flags, context.surroundings)
  const owner = await leader.tryAcquireRootOwner(await leader.resolveRoot({ path, create: false }))
  if (owner === undefined) {
    throw new CliFailure('root_owned', 'A leader runs on this data root; it has to end first.', {
      next: 'headwater stop',
    })
  }
  try {
    const result = await leader.repairSession(owner, { sessionId, ...(to === undefined ? {} : { to }) })
    const { revision, formerRevision, copy, rows, droppedReceipts, faults } = result
    const cut =
      revision < formerRevision ? `, cut back from ${formerRevision}, ${droppedReceipts} receipts with it` : ''
    const text = `${sessionId} is at revision ${revision}${cut}; its document was built anew and ${rows} rows were mended. What was stored before: ${copy}`
    if (faults.length === 0) return { result, text }
    throw new CliFailure('damage_found', `${text}. ${faults.length} faults are left.`, {
      detail: result,
      next: 'headwater verify',
    })
  } finally {
    await owner.close()
  }
}
