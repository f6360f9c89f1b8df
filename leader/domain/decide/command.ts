import type { CommandName, Input } from '../../../schema/commands/index.ts'
import type { SessionHeader } from '../../../schema/entities/session.ts'
import { type DecideContext, type Decision, refuse } from '../decision.ts'
import type { SessionState } from '../state.ts'
import { decideFork } from './fork.ts'
import { decideHold } from './hold.ts'
import { decideAnswer } from './interaction.ts'
import { decidePlanControl } from './plan/control.ts'
import { decidePlanTurn } from './plan/turn.ts'
import { decideEdit, decideMove, decidePromote, decideRemove, decideResume, decideRetract } from './queue.ts'
import { decideRegenerate } from './regenerate.ts'
import { decideArchive, decideCompact, decideCreate, decideDelete, decideUpdate } from './session.ts'
import { decideInterrupt, decideStart, decideStop, decideSubmit } from './turn.ts'

/** A client's command on a session, with its checked input. */
export type ClientCommand = {
  [Op in CommandName]: { readonly operation: Op; readonly input: Input<Op> }
}[CommandName]

/** Decides a client's command whose shape and receipt are checked already. Source: T2, A3. */
export function decide(state: SessionState, command: ClientCommand, context: DecideContext): Decision {
  if (state.isDeleted === true) return decideOnTombstone(command)
  if (command.operation === 'session.create') return decideCreate(state, command.input, context)
  if (command.operation === 'session.fork') return decideFork(state, command.input, context)
  const header: SessionHeader | null = state.header
  if (header === null) return refuse('not_found', 'there is no such session')
  switch (command.operation) {
    case 'session.update':
      return decideUpdate(state, command.input)
    case 'session.archive':
      return decideArchive(state, true)
    case 'session.unarchive':
      return decideArchive(state, false)
    case 'session.delete':
      return decideDelete(state, command.input, context)
    case 'session.compact':
      return decideCompact(context, command.input)
    case 'turn.regenerate':
      return decideRegenerate(state, command.input, context)
    case 'plan.control':
      return decidePlanControl(state, command.input, context)
    case 'plan.turn.start':
      return decidePlanTurn(state, command.input, context)
    case 'queue.hold':
      return decideHold(state, command.input, context)
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

/** An id that a deleted session had is used up. Source: S5. */
function decideOnTombstone({ operation }: ClientCommand): Decision {
  const isMaking = operation === 'session.create' || operation === 'session.fork'
  return isMaking
    ? refuse('operation_conflict', 'a session of this id was deleted')
    : refuse('not_found', 'there is no such session')
}
