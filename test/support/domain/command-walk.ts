import fc from 'fast-check'
import { decideExpire, decideOpen } from '../../../leader/domain/decide/interaction.ts'
import { decideAck, decideEnd, decideNack, decidePull, decideRunStart } from '../../../leader/domain/decide/run.ts'
import { decideCreateTask, decideUpdateTask } from '../../../leader/domain/decide/task.ts'
import { type Decision, event, sealBlocks } from '../../../leader/domain/decision.ts'
import { activeTurn } from '../../../leader/domain/state.ts'
import type { InteractionRequest } from '../../../schema/entities/interaction.ts'
import { TaskStatus } from '../../../schema/entities/task.ts'
import { ADA, BOB, DomainSession } from './domain-session.ts'

/** The steps with how often they come: what leads somewhere comes more often than what ends it. */
const STEPS = {
  update: 1,
  archive: 1,
  unarchive: 4,
  start: 6,
  run: 8,
  stop: 1,
  interrupt: 1,
  steer: 5,
  follow: 5,
  edit: 2,
  remove: 1,
  move: 4,
  promote: 2,
  hold: 4,
  release: 2,
  regenerate: 2,
  retract: 1,
  resume: 3,
  pull: 5,
  ack: 4,
  nack: 3,
  open: 3,
  answer: 5,
  expire: 1,
  tool_start: 3,
  tool_end: 3,
  text: 6,
  notice: 2,
  task_create: 3,
  task_update: 6,
  complete: 2,
  fail: 1,
  cancel: 1,
  hand_on: 4,
} as const

const KINDS = Object.entries(STEPS).flatMap(([kind, weight]) =>
  Array<keyof typeof STEPS>(weight).fill(kind as keyof typeof STEPS),
)

/** One step of a walk; `pick` chooses among what is there. */
export interface CommandStep {
  readonly kind: keyof typeof STEPS
  readonly pick: number
}

/** Any sequence of commands and of what runs do. */
export const commandSteps: fc.Arbitrary<readonly CommandStep[]> = fc.array(
  fc.record({ kind: fc.constantFrom(...KINDS), pick: fc.nat(999) }),
  { maxLength: 120, size: 'max' },
)

const QUESTION: InteractionRequest = {
  kind: 'question',
  questions: [{ question: 'Which?', options: [{ label: 'a' }] }],
}

/** Walks a session through commands, whatever their outcome: refusals and misfits are part of the walk. */
export class CommandWalk {
  readonly session = new DomainSession().create()
  #serial = 0

  /** Does one step; true if it made a transition. */
  step(step: CommandStep): boolean {
    this.#serial += 1
    const { session } = this
    const before = session.state.revision
    const decision = this.#decide(step)
    if (decision?.kind === 'accept') session.take(decision, step.pick % 2 === 0 ? ADA : 'run')
    return session.state.revision > before
  }

  #decide({ kind, pick }: CommandStep): Decision | null {
    const { session } = this
    const id = `x${this.#serial}`
    const actor = pick % 2 === 0 ? ADA : BOB
    const revision = session.state.header?.revision ?? 0
    switch (kind) {
      case 'update':
        return session.decide('session.update', {
          expectedRevision: revision - (pick % 3 === 0 ? 1 : 0),
          patch: { title: id },
        })
      case 'archive':
        return session.decide('session.archive', {})
      case 'unarchive':
        return session.decide('session.unarchive', {})
      case 'start':
        return session.decide('turn.start', { turnId: id, content: { text: id } }, { actor })
      case 'run':
        return decideRunStart(session.state, session.state.root?.admission.turnId ?? 'none', session.context())
      case 'regenerate': {
        const sourceTurnId = session.state.root?.admission.turnId ?? 'none'
        return session.decide('turn.regenerate', { turnId: id, sourceTurnId }, { actor })
      }
      case 'stop':
        return session.decide('turn.stop', this.#turn(pick))
      case 'interrupt':
        return session.decide('turn.interrupt', { ...this.#turn(pick), interruptId: id })
      default:
        return this.#decideQueue(kind, pick, id) ?? this.#decideRun(kind, pick, id)
    }
  }

  #decideQueue(kind: CommandStep['kind'], pick: number, id: string): Decision | null {
    const { session } = this
    const { queue } = session.state
    const at = queue[pick % Math.max(1, queue.length)]?.entry
    const other = queue[(pick * 7) % Math.max(1, queue.length)]?.entry
    const entry = { entryId: at?.entryId ?? 'none', expectedEntryRevision: at?.revision ?? 1 }
    const actor = pick % 2 === 0 ? ADA : BOB
    const content = { text: id, ...(pick % 3 === 0 ? { displayText: `${id}!` } : {}) }
    switch (kind) {
      case 'steer':
      case 'follow': {
        const placement = kind === 'steer' ? 'current_turn' : 'next_turn'
        const input = { originHostEpoch: 'e', messageId: id, content, placement } as const
        return session.decide('turn.message.submit', input, { actor })
      }
      case 'edit':
        return session.decide('queue.edit', { ...entry, content })
      case 'remove':
        return session.decide('queue.remove', entry)
      case 'move': {
        const place = pick % 2 === 0 ? { before: other?.entryId ?? 'none' } : { after: other?.entryId ?? 'none' }
        return session.decide('queue.move', { ...entry, ...place } as never)
      }
      case 'promote':
        return session.decide('queue.promote', entry, { actor })
      case 'hold':
        return session.decide('queue.hold', entry, { actor })
      case 'release':
        return session.decide('queue.hold', { ...entry, release: true }, { actor })
      case 'retract':
        return session.decide('queue.retract', { retractId: id })
      case 'resume':
        return session.decide('queue.resume', {})
      default:
        return null
    }
  }

  #decideRun(kind: CommandStep['kind'], pick: number, id: string): Decision | null {
    const { session } = this
    const { state } = session
    if (kind === 'hand_on') {
      session.handOn()
      return null
    }
    if (kind === 'answer') {
      const interactionId = state.interactions[0]?.snapshot.interactionId ?? 'none'
      const labels = pick % 3 === 0 ? ['b'] : ['a']
      return session.decide('interaction.answer', {
        interactionId,
        answer: { kind: 'question', answers: [{ labels }] },
      })
    }
    const root = activeTurn(state)
    if (root === null || root.snapshot.status === 'admitted') return this.#endEarly(kind)
    const run = { turnId: root.admission.turnId, runId: root.admission.runId }
    const ids = state.queue.filter(r => r.entry.state === 'in_flight').map(r => r.entry.entryId)
    const one = ids.slice(pick % Math.max(1, ids.length)).slice(0, 1)
    const meta = { blockId: id, kind: 'assistant', messageId: 'm', offset: 0, ...run, startedAt: session.at } as const
    switch (kind) {
      case 'pull':
        return decidePull(state, run)
      case 'ack':
        return decideAck(state, run, one, session.context())
      case 'nack':
        return decideNack(state, run, one)
      case 'open':
        return decideOpen(state, run, { interactionId: id, request: QUESTION }, session.context())
      case 'expire':
        return decideExpire(state, state.interactions[0]?.snapshot.interactionId ?? 'none', session.context())
      case 'text':
        return this.#events(sealBlocks({ openBlocks: [{ meta, text: 'x'.repeat(pick * 150) }] }))
      case 'notice':
        return this.#events([event('notice_appended', { ...run, entryId: id, text: id })])
      case 'tool_start': {
        const call = {
          toolCallId: `c${pick % 5}`,
          name: 'edit',
          title: id,
          status: 'in_progress',
          input: null,
        } as const
        return this.#events([event('tool_started', { ...run, ...call })])
      }
      case 'tool_end':
        return this.#events([
          event('tool_ended', { ...run, toolCallId: `c${pick % 5}`, status: 'completed', output: id }),
        ])
      case 'task_create':
      case 'task_update':
        return this.#decideTask(kind, run, pick)
      default:
        return this.#end(kind, run)
    }
  }

  #decideTask(kind: CommandStep['kind'], run: { turnId: string; runId: string }, pick: number): Decision {
    const { state } = this.session
    const { items } = state.tasks
    const chosen = items[pick % Math.max(1, items.length)]
    if (kind === 'task_create') {
      const parent = pick % 3 === 0 && chosen !== undefined ? { parent: chosen.key } : {}
      return decideCreateTask(state, run, { subject: `${pick}`, ...parent }, this.session.context())
    }
    const status = TaskStatus.options[pick % 7] ?? 'in_progress'
    const text = { blocked: 'blockedReason', failed: 'failureReason', completed: 'completionEvidence' }[
      status as 'failed'
    ]
    const change = { task: chosen?.id ?? 'none', status, reopen: pick % 2 === 0, ...(text && { [text]: `${pick}` }) }
    return decideUpdateTask(state, run, change, this.session.context())
  }

  #endEarly(kind: CommandStep['kind']): Decision | null {
    const { root } = this.session.state
    return root === null || kind !== 'cancel' ? null : this.#end(kind, root.admission)
  }

  #end(kind: CommandStep['kind'], run: { turnId: string; runId: string }): Decision | null {
    const context = { ...this.session.context(), isDraining: false }
    const { state } = this.session
    if (kind === 'complete') return decideEnd(state, run, { kind: 'completed' }, context)
    if (kind === 'fail') return decideEnd(state, run, { kind: 'failed', failureClass: 'network' }, context)
    if (kind === 'cancel') return decideEnd(state, run, { kind: 'cancelled', abortSource: 'user_stop' }, context)
    return null
  }

  #events(events: ReturnType<typeof sealBlocks>): Decision {
    return { kind: 'accept', events, result: () => null }
  }

  #turn(pick: number): { turnId: string; runId: string } {
    const { turns } = this.session
    const chosen = turns[pick % 2 === 0 ? turns.length - 1 : pick % Math.max(1, turns.length)]?.admission
    return { turnId: chosen?.turnId ?? 'none', runId: pick % 5 === 0 ? 'wrong' : (chosen?.runId ?? 'none') }
  }
}
