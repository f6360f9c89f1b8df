import { activeExecution } from '../../model/reference/plans.ts'
import { type RefRunStep, takeRunStep } from '../../model/reference/runs.ts'
import {
  activeTurn,
  type RefRequest,
  type RefRoot,
  type RefSession,
  type RefTurn,
} from '../../model/reference/state.ts'
import { runEffect } from '../../model/reference/turns.ts'
import type { SeededRandom } from '../random.ts'
import type { PuppetRun } from '../session/puppet-runs.ts'
import type { MemoryStage } from './memory-stage.ts'
import { takeTaskStep, type Wait } from './task-steps.ts'

const QUESTION: RefRequest = {
  kind: 'question',
  questions: [{ question: 'Which?', options: [{ label: 'a' }, { label: 'b' }] }],
}
const PERMISSION: RefRequest = {
  kind: 'permission',
  toolCallId: 'call',
  title: 'Write a file',
  toolKind: 'edit',
  options: [
    { optionId: 'once', label: 'Once', kind: 'allow_once' },
    { optionId: 'always', label: 'Always', kind: 'allow_always' },
    { optionId: 'no', label: 'No', kind: 'reject_once' },
  ],
}
const KINDS = [
  'text',
  'text',
  'text',
  'notice',
  'tool_start',
  'tool_end',
  'pull',
  'pull',
  'ack',
  'ack',
  'nack',
  'ask',
  'ask',
  'end',
  'end',
  'fail',
  'plan',
  'task',
  'task',
  'plan',
  'plan',
] as const

/** Steps that make no sense now are chosen again. */
const TRIES = 6

/** A step some run took, with what the run must be told. */
export interface TakenStep {
  readonly sessionId: string
  readonly step: RefRunStep
}

/** Lets the runs of a stage do something, and tells the reference. */
export class RunSteps {
  readonly #random: SeededRandom
  #serial = 0

  constructor(random: SeededRandom) {
    this.#random = random
  }

  /** One step of a random run, taken on the stage; null where none runs. */
  async next(root: RefRoot, stage: MemoryStage): Promise<TakenStep | null> {
    const running = Object.values(root.sessions).filter(session => activeTurn(session) !== null)
    if (running.length === 0) return null
    const session = this.#random.pick(running)
    for (let i = 0; i < TRIES; i++) {
      const step = await this.#take(session, stage)
      if (step !== null) return { sessionId: session.sessionId, step }
    }
    return null
  }

  async #take(session: RefSession, stage: MemoryStage): Promise<RefRunStep | null> {
    this.#serial += 1
    const turn = activeTurn(session) as RefTurn
    const run = stage.run(turn.turnId)
    const kind = this.#random.pick(KINDS)
    const wait = <T>(promise: Promise<T>): Promise<T> => stage.world.during(promise)
    switch (kind) {
      case 'text': {
        const step = {
          kind,
          messageId: `m${this.#random.between(1, 2)}-${turn.turnId}`,
          text: `words ${this.#serial}. `,
        }
        await wait(run.text(step.text, step.messageId))
        return step
      }
      case 'notice': {
        const step = { kind, text: `notice ${this.#serial}` }
        await wait(run.port.apply(step))
        return step
      }
      case 'plan':
        return await this.#plan(session, run, wait)
      case 'task':
        return await takeTaskStep({ random: this.#random, session, run, wait })
      case 'ask':
        return await this.#ask(session, run, wait)
      case 'end':
        await wait(run.end())
        return { kind: 'end', failureClass: null }
      case 'fail':
        await wait(run.end({ kind: 'failed', failureClass: 'network' }))
        return { kind: 'end', failureClass: 'network' }
      case 'tool_start':
      case 'tool_end':
        return await this.#tool(kind, session, run, wait)
      default:
        return await this.#lease(kind, session, run, wait)
    }
  }

  /** The next step of the plan that is carried out, or a new proposal. */
  async #plan(session: RefSession, run: PuppetRun, wait: Wait): Promise<RefRunStep | null> {
    const active = activeExecution(session)
    if (active !== null) {
      const next = active.steps.find(step => step.status === 'pending')
      const steps = active.steps.map(step => (step === next ? { id: step.id, status: 'completed' } : { ...step }))
      await wait(run.port.updatePlan({ executionId: active.executionId, steps } as never))
      return { kind: 'plan_step' }
    }
    const ids = Array.from({ length: this.#random.between(1, 3) }, (_, i) => `step-${i + 1}`)
    const steps = ids.map(id => ({ id, title: `Do ${id}`, description: 'Do it.' }))
    const content = { title: `Plan ${this.#serial}`, steps }
    await wait(run.port.submitPlan(content))
    return { kind: 'plan_submit', content }
  }

  async #ask(session: RefSession, run: PuppetRun, wait: Wait): Promise<RefRunStep | null> {
    if (session.interactions.filter(one => one.status === 'pending').length >= 3) return null
    const request = this.#random.pick([QUESTION, PERMISSION])
    const { interactionId } = await wait(run.port.openInteraction(request as never))
    return { kind: 'ask', interactionId, request }
  }

  async #tool(
    kind: 'tool_start' | 'tool_end',
    session: RefSession,
    run: PuppetRun,
    wait: Wait,
  ): Promise<RefRunStep | null> {
    const { turnId } = run.port
    const open = session.transcript.find(l => l.kind === 'tool' && l.turnId === turnId && l.status === 'in_progress')
    if (kind === 'tool_end') {
      if (open?.id === undefined) return null
      await wait(run.port.apply({ kind, toolCallId: open.id, status: 'completed', output: null }))
      return { kind, toolCallId: open.id }
    }
    const toolCallId = `call-${this.#serial}`
    await wait(run.port.apply({ kind, toolCallId, name: 'edit', title: 'Edit', status: 'in_progress', input: null }))
    return { kind, toolCallId }
  }

  async #lease(
    kind: 'pull' | 'ack' | 'nack',
    session: RefSession,
    run: PuppetRun,
    wait: Wait,
  ): Promise<RefRunStep | null> {
    const entryIds = session.queue.filter(entry => entry.state === 'in_flight').map(entry => entry.entryId)
    if (kind === 'pull') {
      if (entryIds.length > 0) return null
      await wait(run.port.pullSteering())
    } else await wait(run.port.apply({ kind, entryIds }))
    return { kind }
  }
}

/** What the step makes of the reference, with all that follows by itself. */
export function tellReference(root: RefRoot, { sessionId, step }: TakenStep): void {
  const session = root.sessions[sessionId] as RefSession
  takeRunStep(root, session, step)
  while (runEffect(root, session));
}
