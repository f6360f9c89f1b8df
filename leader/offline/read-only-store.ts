import type { SessionHeader } from '../../schema/entities/session.ts'
import type { Admission, Run, UserMessage } from '../../schema/entities/turn.ts'
import { HeadwaterError } from '../../schema/errors.ts'
import type { RunEvent } from '../../schema/events.ts'
import type { Imported } from './import/import-item.ts'
import { OfflineReader } from './offline-reader.ts'
import type { OfflineStore, ProposalResult } from './offline-store.ts'

/** The store of a viewed root: its writers reject with `invalid_lease`. Source: interfaces 3. */
export class ReadOnlyStore extends OfflineReader implements OfflineStore {
  readonly #closable: { close(): Promise<void> }

  constructor(reader: ConstructorParameters<typeof OfflineReader>[0] & { close(): Promise<void> }) {
    super(reader)
    this.#closable = reader
  }

  createSession(): Promise<SessionHeader> {
    return readOnly()
  }

  createChildSession(): Promise<SessionHeader> {
    return readOnly()
  }

  submitPlanProposal(): Promise<ProposalResult> {
    return readOnly()
  }

  archiveSession(): Promise<SessionHeader> {
    return readOnly()
  }

  admitTurn(): Promise<Admission> {
    return readOnly()
  }

  createRun(): Promise<Run> {
    return readOnly()
  }

  appendUserMessage(): Promise<UserMessage> {
    return readOnly()
  }

  appendRunEvent(): Promise<RunEvent> {
    return readOnly()
  }

  importSession(): Promise<Imported> {
    return readOnly()
  }

  async close(): Promise<void> {
    await this.#closable.close()
  }
}

function readOnly(): Promise<never> {
  return Promise.reject(new HeadwaterError('invalid_lease', 'a reader cannot write; acquire the root as owner'))
}
