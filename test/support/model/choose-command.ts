import type { RefCommand } from '../../model/reference/commands.ts'
import { activeTurn, type RefActor, type RefRoot, type RefSession, type RefTurn } from '../../model/reference/state.ts'
import type { SeededRandom } from '../random.ts'

/** How often each command comes: what leads somewhere comes more often than what ends it. */
export const WEIGHTS: Readonly<Record<string, number>> = {
  'session.update': 3,
  'session.archive': 2,
  'session.unarchive': 2,
  'turn.start': 7,
  'turn.stop': 2,
  'turn.interrupt': 2,
  'turn.message.submit': 9,
  'queue.edit': 3,
  'queue.remove': 2,
  'queue.move': 3,
  'queue.promote': 2,
  'queue.retract': 1,
  'queue.resume': 3,
  'interaction.answer': 4,
  'queue.hold': 4,
  'turn.regenerate': 3,
  'plan.control': 5,
  'plan.turn.start': 5,
  'session.fork': 1,
  'session.delete': 1,
  'session.compact': 2,
}
const OPERATIONS = Object.entries(WEIGHTS).flatMap(([name, weight]) => Array<string>(weight).fill(name))
const MOST_SESSIONS = 3
const WRONG = 0.12
const TRIES = 8

/** False where a command is bound to be refused. */
function canSucceed(operation: string, session: RefSession): boolean {
  const isBusy = activeTurn(session) !== null
  if (session.isArchived) return /^session\.(unarchive|update|fork|delete)$/.test(operation)
  if (operation === 'queue.retract' || operation === 'queue.resume') return session.queue.length > 0
  if (operation === 'queue.move') return session.queue.length > 1
  if (operation.startsWith('queue.')) return session.queue.length > 0
  switch (operation) {
    case 'interaction.answer':
      return session.interactions.some(one => one.status === 'pending')
    case 'turn.stop':
    case 'turn.interrupt':
      return isBusy
    case 'turn.start':
    case 'session.archive':
    case 'session.delete':
      return !isBusy
    case 'session.fork':
      return session.turns.length > 1
    case 'turn.regenerate':
      return !isBusy && session.turns.length > 0
    case 'plan.control':
    case 'plan.turn.start':
      return !isBusy && session.plan.proposals.length > 0
    default:
      return operation !== 'session.unarchive'
  }
}

/** Chooses commands that make sense of a root, and now and then some that do not. */
export class CommandChoice {
  readonly #random: SeededRandom
  readonly #operations: readonly string[]
  readonly #text: string | null
  #serial = 0

  /** `isMeant`: the operations to choose from; `text`: what every prompt says, where it matters to the backend. */
  constructor(random: SeededRandom, isMeant: (operation: string) => boolean = () => true, text: string | null = null) {
    this.#random = random
    this.#operations = OPERATIONS.filter(isMeant)
    this.#text = text
  }

  next(root: RefRoot, actor: RefActor): RefCommand {
    const sessionIds = Object.keys(root.sessions)
    this.#serial += 1
    const living = Object.values(root.sessions).filter(session => !session.isDeleted)
    const isFirst = living.length === 0 || this.#is(1 / OPERATIONS.length)
    if (isFirst) return { operation: 'session.create', input: this.#creation(sessionIds, living.length), actor }
    const isOdd = this.#is(WRONG)
    const sessionId = isOdd ? this.#random.pick(sessionIds) : this.#random.pick(living).sessionId
    const session = root.sessions[sessionId] as RefSession
    let operation = this.#random.pick(this.#operations)
    // Most commands are given where they can succeed.
    for (let i = 0; i < TRIES && !isOdd && !canSucceed(operation, session); i++) {
      operation = this.#random.pick(this.#operations)
    }
    return { operation, input: { sessionId, ...this.#input(operation, session) }, actor }
  }

  /** A command under the identity of another one, with other words in it; null where it has none. */
  altered({ operation, input, actor }: RefCommand, by: RefActor): RefCommand | null {
    void actor
    if (input.content !== undefined)
      return { operation, input: { ...input, content: { text: 'other words' } }, actor: by }
    if (input.patch !== undefined) return { operation, input: { ...input, patch: { cwd: '/other' } }, actor: by }
    return null
  }

  #creation(sessionIds: readonly string[], living: number): RefCommand['input'] {
    const isNew = living < MOST_SESSIONS
    const sessionId = isNew ? `s${this.#serial}` : this.#random.pick(sessionIds)
    return { sessionId, cwd: '/', backend: 'scripted', ...(this.#is(0.3) ? { title: `Named ${this.#serial}` } : {}) }
  }

  #input(operation: string, session: RefSession): Record<string, unknown> {
    const id = `x${this.#serial}`
    switch (operation) {
      case 'session.update':
        return {
          operationId: id,
          expectedRevision: this.#revision(session.headerRevision),
          patch: this.#patch(session),
        }
      case 'session.archive':
      case 'session.unarchive':
      case 'queue.resume':
        return { operationId: id }
      case 'turn.start':
        return { turnId: id, content: this.#content(id), ...(this.#is(0.1) ? { maxSteps: 3 } : {}) }
      case 'turn.stop':
        return this.#turn(session)
      case 'turn.interrupt':
        return { ...this.#turn(session), interruptId: id }
      case 'turn.message.submit':
        return {
          originHostEpoch: 'an-epoch',
          messageId: id,
          content: this.#content(id),
          placement: this.#is(0.5) ? 'current_turn' : 'next_turn',
        }
      case 'turn.regenerate':
        return { turnId: id, sourceTurnId: this.#pickOr(session.turns, null)?.turnId ?? 'none' }
      case 'plan.control':
        return { operationId: id, ...this.#planWish(session, true) }
      case 'plan.turn.start':
        return { turnId: id, ...this.#planWish(session, false) }
      case 'session.fork':
        return { fromTurnId: this.#pickOr(session.turns, null)?.turnId ?? 'none', newSessionId: `f${this.#serial}` }
      case 'session.compact':
        return {
          operationId: id,
          ...(this.#is(0.5) ? { beforeRevision: this.#random.between(1, session.revision) } : {}),
        }
      case 'session.delete':
        return { operationId: id, expectedRevision: this.#revision(session.headerRevision) }
      case 'queue.retract':
        return { retractId: id }
      case 'interaction.answer':
        return this.#answer(session)
      default:
        return { operationId: id, ...this.#entry(operation, session) }
    }
  }

  #entry(operation: string, session: RefSession): Record<string, unknown> {
    const entry = this.#pickOr(session.queue, null)
    const gone = this.#pickOr(Object.keys(session.fates), 'none')
    const named = { entryId: entry?.entryId ?? gone, expectedEntryRevision: this.#revision(entry?.revision ?? 1) }
    if (operation === 'queue.hold') return { ...named, ...(this.#is(0.3) ? { release: true } : {}) }
    if (operation === 'queue.edit') return { ...named, content: this.#content(`edited ${this.#serial}`) }
    if (operation !== 'queue.move') return named
    const anchor = this.#pickOr(session.queue, null)?.entryId ?? 'none'
    return { ...named, ...(this.#is(0.5) ? { before: anchor } : { after: anchor }) }
  }

  #planWish({ plan }: RefSession, isControl: boolean): Record<string, unknown> {
    const proposal = this.#is(0.85) ? plan.proposals.at(-1) : this.#pickOr(plan.proposals, undefined)
    const execution = this.#pickOr(plan.executions, undefined)
    const approval = {
      kind: 'approve_proposal',
      proposalId: proposal?.proposalId ?? 'none',
      expectedRevision: this.#revision(proposal?.revision ?? 1),
      // A plan moves with every step of a run, so that this one is most often out of date.
      expectedStoreVersion: this.#is(0.3) ? Math.max(0, plan.storeVersion - 1) : plan.storeVersion,
    }
    const executionId = execution?.executionId ?? 'none'
    const wishes: Record<string, unknown>[] = [approval, { kind: 'resume_execution', executionId }]
    if (isControl) {
      const { proposalId } = approval
      wishes.push({ kind: 'request_revision', proposalId, feedback: `change ${this.#serial}` })
      wishes.push({ kind: 'abandon_proposal', proposalId }, { kind: 'cancel_execution', executionId })
    }
    return this.#random.pick(wishes)
  }

  #turn(session: RefSession): { turnId: string; runId: string } {
    const turn: RefTurn | null = this.#is(0.75) ? activeTurn(session) : this.#pickOr(session.turns, null)
    const isWrong = this.#is(WRONG) || turn === null || turn.runId.startsWith('?')
    return { turnId: turn?.turnId ?? 'none', runId: isWrong ? 'wrong' : turn.runId }
  }

  #answer(session: RefSession): Record<string, unknown> {
    const pending = session.interactions.filter(one => one.status === 'pending')
    const one = this.#pickOr(pending, this.#pickOr(session.interactions, null))
    const interactionId = one?.interactionId ?? 'none'
    if (one?.request.kind === 'permission') {
      return {
        interactionId,
        answer: { kind: 'permission', optionId: this.#random.pick(['once', 'always', 'always', 'no', 'odd']) },
      }
    }
    const labels = [this.#random.pick(['a', 'b', 'c'])]
    return { interactionId, answer: { kind: 'question', answers: [this.#is(0.2) ? null : { labels }] } }
  }

  #patch(session: RefSession): Record<string, unknown> {
    const patches: Record<string, unknown>[] = [
      { title: `Title ${this.#serial}` },
      { title: '' },
      { cwd: `/srv/${this.#random.between(1, 3)}` },
      { model: this.#random.pick(['large', 'small']) },
      { permissionMode: this.#random.pick(['ask', 'bypass']) },
      { collaborationMode: this.#random.pick(['agent', 'plan']) },
    ]
    if ((session.alwaysAllowed?.length ?? 0) > 0) patches.push({ alwaysAllowed: [] })
    return this.#random.pick(patches)
  }

  #content(text: string): Record<string, unknown> {
    if (this.#text !== null) return { text: this.#text }
    return { text, ...(this.#is(0.2) ? { displayText: this.#is(0.3) ? text : `shown ${text}` } : {}) }
  }

  #revision(known: number): number {
    return this.#is(WRONG) ? Math.max(1, known + this.#random.pick([-1, 1])) : known
  }

  #pickOr<T, U>(list: readonly T[], otherwise: U): T | U {
    return list.length === 0 ? otherwise : this.#random.pick(list)
  }

  #is(probability: number): boolean {
    return this.#random.next() < probability
  }
}
