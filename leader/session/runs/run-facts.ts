import type { DomainEvent } from '../../../schema/events.ts'
import { type DecideContext, event, sealBlocks } from '../../domain/decision.ts'
import type { SessionState } from '../../domain/state.ts'
import type { RunCommand } from '../run-port.ts'
import { recordedProcess } from './former-process.ts'

/** The run whose facts they are. */
export interface FactsRun {
  readonly turnId: string
  readonly runId: string
  /** The name of the run's backend. */
  readonly backend: string
  readonly rootMark: string | undefined
}

/** What a run tells of itself, as facts; nothing of it is ever refused. What adds to the transcript closes the open blocks. Source: L4. */
export function factsOf(
  { backend, rootMark, ...keys }: FactsRun,
  state: SessionState,
  command: Exclude<RunCommand, { kind: 'ack' | 'nack' }>,
  context: DecideContext,
): DomainEvent[] {
  switch (command.kind) {
    case 'notice': {
      const entryId = `notice-${state.revision + 1}`
      return [...sealBlocks(context), event('notice_appended', { ...keys, entryId, text: command.text })]
    }
    case 'tool_start': {
      const { kind: _kind, ...call } = command
      return [...sealBlocks(context), event('tool_started', { ...keys, ...call })]
    }
    case 'tool_update': {
      const { kind: _kind, ...call } = command
      return [event('tool_updated', { ...keys, ...call })]
    }
    case 'tool_end': {
      const { kind: _kind, ...call } = command
      return [...sealBlocks(context), event('tool_ended', { ...keys, ...call })]
    }
    case 'usage':
      return [event('usage_reported', { ...keys, usage: command.usage })]
    case 'agent_plan':
      return [event('agent_plan_reported', { ...keys, entries: command.entries })]
    case 'process':
      return [event('process_started', { ...keys, process: recordedProcess(command.process, rootMark) })]
    case 'agent_session': {
      const { agentSessionId } = command
      return [event('agent_session_remembered', { ...keys, backend, agentSessionId })]
    }
  }
}
