import * as z from 'zod/mini'
import { Content } from '../../../schema/entities/content.ts'
import { EntityId } from '../../../schema/entities/primitives.ts'
import { HeadwaterError } from '../../../schema/errors.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { truncateChars } from '../../../schema/text.ts'
import type { RunPort } from '../../session/run-port.ts'
import type { ChildRun, ChildTools } from '../backend.ts'
import type { RunGate } from '../run-gate.ts'
import { readInput } from './read-input.ts'

/** What is said to a child. */
const SAID = z.strictObject({ content: Content })

const noop = (): void => {}

/**
 * The children of a run, as its backend has them: what is said to a child passes the text rule and the bounds of a message, and after a
 * stop nothing is started or stopped any more. Errors, as HeadwaterError: `invalid_request` (a message that is none), `not_found` (no
 * child of this session), `session_busy`, `session_archived`, `too_large` (too many children, or too deep), `operation_conflict`.
 * Source: T13, C1, C3, T9.
 */
export function openChildTools({ port, gate }: { readonly port: RunPort; readonly gate: RunGate }): ChildTools {
  const issue = (bytes: number, call: (tools: ChildTools) => Promise<ChildRun>): Promise<ChildRun> =>
    gate.effect(bytes, noop, async () => guarded(await call(toolsOf(port)), gate))
  return {
    start: child => {
      const { agentName, agentId, backend } = child
      return attempt(() => {
        const content = readContent(child.content)
        const named = {
          agentName: readName(agentName),
          content,
          ...(agentId === undefined ? {} : { agentId: readId(agentId, 'agentId') }),
          ...(backend === undefined ? {} : { backend }),
        }
        return issue(content.text.length, tools => tools.start(named))
      })
    },
    resume: child =>
      attempt(() => {
        const sessionId = readId(child.sessionId, 'sessionId')
        const content = readContent(child.content)
        return issue(content.text.length, tools => tools.resume({ sessionId, content }))
      }),
    retry: child =>
      attempt(() => {
        const sessionId = readId(child.sessionId, 'sessionId')
        return issue(0, tools => tools.retry({ sessionId }))
      }),
  }
}

function toolsOf({ children }: RunPort): ChildTools {
  if (children == null) throw new HeadwaterError('operation_conflict', 'this run can have no children')
  return children
}

/** A child whose parent's run is over is out of that run's reach. */
function guarded(child: ChildRun, gate: RunGate): ChildRun {
  const { sessionId, turnId, runId, agentId, agentName, ended } = child
  return {
    sessionId,
    turnId,
    runId,
    agentId,
    agentName,
    ended,
    answer: () => gate.wait(child.answer()),
    stop: () => gate.effect(0, noop, () => child.stop()),
  }
}

/** What is thrown becomes a rejection that cannot go unhandled. */
function attempt(call: () => Promise<ChildRun>): Promise<ChildRun> {
  try {
    return call()
  } catch (error) {
    const refusal = Promise.reject(error)
    refusal.catch(noop)
    return refusal
  }
}

function readName(agentName: string): string {
  const name = truncateChars(String(agentName).toWellFormed(), LIMITS.titleChars)
  if (name === '') throw invalid('agentName', 'is empty')
  return name
}

function readId(id: string, path: string): string {
  const read = EntityId.safeParse(id)
  if (!read.success) throw invalid(path, 'is not an id')
  return read.data
}

function readContent(content: unknown): Content {
  return readInput(SAID, { content }).content
}

function invalid(path: string, message: string): HeadwaterError {
  return new HeadwaterError('invalid_request', `${path}: ${message}`, { path })
}
