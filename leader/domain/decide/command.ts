import type { CommandName, Input } from '../../../schema/commands/index.ts'
import type { SessionHeader } from '../../../schema/entities/session.ts'
import { type DecideContext, type Decision, refuse } from '../decision.ts'
import type { SessionState } from '../state.ts'
import { decideAnswer } from './interaction.ts'
import { decideEdit, decideMove, decidePromote, decideRemove, decideResume, decideRetract } from './queue.ts'
import { decideArchive, decideCreate, decideUpdate } from './session.ts'
import { decideInterrupt, decideStart, decideStop, decideSubmit } from './turn.ts'

/** A client's command on a session, with its checked input. */
export type ClientCommand = {
  [Op in CommandName]: { readonly operation: Op; readonly input: Input<Op> }
}[CommandName]

/** Decides a client's command whose shape and receipt are checked already. Source: T2, A3. */
export function decide(state: SessionState, command: ClientCommand, context: DecideContext): Decision {
  if (command.operation === 'session.create') return decideCreate(state, command.input, context)
  const header: SessionHeader | null = state.header
  if (header === null) return refuse('not_found', 'there is no such session')
  switch (command.operation) {
    case 'session.update':
      return decideUpdate(state, command.input)
    case 'session.archive':
      return decideArchive(state, true)
    case 'session.unarchive':
      return decideArchive(state, false)
    case 'turn.start':
      return decideStart(state, command.input, context)
    case 'turn.stop':
      return decideStop(state, command.input, context)
    case 'turn.interrupt':
      return decideInterrupt(state, command.input, context)
    case 'turn.message.submit':
      return decideSubmit(state, command.input, context)
    case 'queue.edit':
      return decideEdit(state, command.input, context)
    case 'queue.remove':
      return decideRemove(state, command.input, context)
    case 'queue.move':
      return decideMove(state, command.input, context)
    case 'queue.promote':
      return decidePromote(state, command.input, context)
    case 'queue.retract':
      return decideRetract(state)
    case 'queue.resume':
      return decideResume(state)
    case 'interaction.answer':
      return decideAnswer(state, command.input, context)
  }
}
