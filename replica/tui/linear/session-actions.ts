import { isTerminal } from '../../../schema/entities/turn.ts'
import { createLedgerFeed } from '../../react/ledger/ledger-feed.ts'
import type { LinearContext } from './linear-context.ts'
import type { OpenSession } from './open-session.ts'
import { ledgerLines, planLines, taskLines, waitingEntries, waitingLines } from './session-words.ts'
import type { SlashName } from './slash-words.ts'

/** What was read out of a plan; only that is approved. Source: P4, P10. */
interface ReadPlan {
  readonly proposalId: string
  readonly revision: number
}

/** What the words of a session do. */
export class SessionActions {
  readonly #context: LinearContext
  readonly #session: OpenSession
  #readPlan: ReadPlan | null = null

  constructor(context: LinearContext, session: OpenSession) {
    this.#context = context
    this.#session = session
  }

  /** Does what a word says; false for one that is no word of a session. */
  async run(name: SlashName, rest: string): Promise<boolean> {
    const does = this.#table[name]
    if (does === undefined) return false
    await does(rest)
    return true
  }

  readonly #table: Partial<Readonly<Record<SlashName, (rest: string) => unknown>>> = {
    queue: text => this.#session.send(text, 'follow_up'),
    steer: text => this.#session.send(text, 'steering'),
    stop: () => this.#stop(),
    deny: () => this.#session.deny(),
    again: () => this.#say(...(this.#session.sheet?.lines ?? ['Nothing is asked here.'])),
    waiting: () => this.#tell(({ queue }) => waitingLines(queue)),
    back: number => this.#takeBack(number),
    resume: () => this.#session.run(commands => commands.resumeQueue({})),
    plan: () => this.#plan(),
    approve: () => this.#approve(),
    revise: feedback => this.#onProposal(proposalId => ({ kind: 'request_revision', proposalId, feedback })),
    drop: () => this.#onProposal(proposalId => ({ kind: 'abandon_proposal', proposalId })),
    continue: () => this.#continue(),
    giveup: () => this.#giveUp(),
    tasks: () => this.#tell(({ tasks }) => taskLines(tasks)),
    inspect: () => this.#inspect(),
  }

  #tell(lines: (projection: NonNullable<OpenSession['projection']>) => readonly string[]): void {
    const { projection } = this.#session
    this.#say(...(projection === null ? [UNKNOWN] : lines(projection)))
  }

  async #stop(): Promise<void> {
    const turn = this.#session.projection?.rootTurn ?? null
    if (turn === null || isTerminal(turn.status)) return this.#say('No turn runs.')
    this.#say('Stopping.')
    const { turnId, runId } = turn
    const outcome = await this.#session.run(commands => commands.stopTurn({ turnId, runId }))
    if (outcome.ok && outcome.result.status === 'completed') this.#say('It had just finished.')
  }

  async #takeBack(number: string): Promise<void> {
    const queue = this.#session.projection?.queue
    const entry = queue === undefined ? undefined : waitingEntries(queue)[Number(number) - 1]
    if (entry === undefined) return this.#say('There is no such message; /waiting lists them.')
    const { entryId, revision } = entry
    const outcome = await this.#session.run(commands =>
      commands.removeEntry({ entryId, expectedEntryRevision: revision }),
    )
    if (outcome.ok) this.#say(`Taken back: ${entry.content.displayText ?? entry.content.text}`)
  }

  #plan(): void {
    const latest = this.#session.projection?.plan.latestProposal ?? null
    this.#readPlan = latest === null ? null : { proposalId: latest.proposalId, revision: latest.revision }
    this.#tell(({ plan }) => planLines(plan))
  }

  async #approve(): Promise<void> {
    const plan = this.#session.projection?.plan
    const latest = plan?.latestProposal ?? null
    if (plan === undefined || latest?.status !== 'pending_approval') return this.#say('No plan waits for approval.')
    const { proposalId, revision } = latest
    if (this.#readPlan?.proposalId !== proposalId || this.#readPlan.revision !== revision) {
      return this.#say(`Revision ${revision} was not read out yet: /plan first, then /approve.`)
    }
    const expected = { proposalId, expectedRevision: revision, expectedStoreVersion: plan.storeVersion }
    const outcome = await this.#session.run(commands =>
      commands.startPlanTurn({ kind: 'approve_proposal', ...expected }),
    )
    if (outcome.ok) this.#say('Approved; it is carried out.')
  }

  async #onProposal(
    command: (proposalId: string) => Parameters<OpenSession['commands']['controlPlan']>[0],
  ): Promise<void> {
    const latest = this.#session.projection?.plan.latestProposal ?? null
    if (latest?.status !== 'pending_approval') return this.#say('No plan waits for approval.')
    const outcome = await this.#session.run(commands => commands.controlPlan(command(latest.proposalId)))
    if (outcome.ok) this.#say('Done.')
  }

  async #continue(): Promise<void> {
    const executionId = this.#interrupted()
    if (executionId === null) return
    const outcome = await this.#session.run(commands =>
      commands.startPlanTurn({ kind: 'resume_execution', executionId }),
    )
    if (outcome.ok) this.#say('The plan goes on.')
  }

  async #giveUp(): Promise<void> {
    const executionId = this.#interrupted()
    if (executionId === null) return
    const outcome = await this.#session.run(commands => commands.controlPlan({ kind: 'cancel_execution', executionId }))
    if (outcome.ok) this.#say('The plan was given up.')
  }

  #interrupted(): string | null {
    const last = this.#session.projection?.plan.lastExecution ?? null
    if (last?.status === 'interrupted') return last.executionId
    this.#say('No plan is interrupted.')
    return null
  }

  async #inspect(): Promise<void> {
    const { store } = this.#context
    const feed = createLedgerFeed(store, this.#session.sessionId)
    const isRead = (): boolean => feed.getSnapshot().rows.length > 0 || feed.getSnapshot().failure !== null
    const isLost = (): boolean => store.link.getSnapshot().kind !== 'connected'
    await new Promise<void>(resolve => {
      const stops: (() => void)[] = []
      const look = (): void => {
        if (!isRead() && !isLost()) return
        for (const stop of stops) stop()
        resolve()
      }
      stops.push(feed.subscribe(look), store.link.subscribe(look))
      look()
    })
    this.#say(...(isRead() ? ledgerLines(feed.getSnapshot()) : ['The ledger is only with the leader.']))
  }

  #say(...lines: readonly string[]): void {
    this.#context.out.say(...lines)
  }
}

const UNKNOWN = 'Nothing is known of this session yet.'
