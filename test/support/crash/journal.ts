import { isDeepStrictEqual } from 'node:util'
import type { LeaderConnection } from '../../../replica/client/types.ts'
import { ReplicaOperationError } from '../../../replica/index.ts'
import { type CommandName, commands, type Input, receiptScope } from '../../../schema/commands/index.ts'

/** What became of a command: still no answer, a result, or a refusal. */
export type Outcome =
  | { readonly kind: 'pending' }
  | { readonly kind: 'acknowledged'; readonly result: unknown }
  | { readonly kind: 'refused'; readonly code: string }

/** One command a replica gave, under the identity it keeps until it is settled. */
export interface Issued {
  readonly operation: CommandName
  readonly sessionId: string
  readonly identity: string
  readonly input: Readonly<Record<string, unknown>>
  outcome: Outcome
}

/** Every command of a campaign, by session, with what became of it. */
export class Journal {
  readonly #bySession = new Map<string, Issued[]>()
  readonly #open = new Set<Promise<void>>()
  acknowledged = 0

  /** Gives the command; the connection sends it again under the same identity after every loss until it is settled. */
  give<Op extends CommandName>(of: LeaderConnection, operation: Op, input: Input<Op> & { sessionId: string }): Issued {
    const identity = String((input as Record<string, unknown>)[commands[operation].identity])
    const issued: Issued = { operation, sessionId: input.sessionId, identity, input, outcome: { kind: 'pending' } }
    this.of(input.sessionId).push(issued)
    this.again(of, issued)
    return issued
  }

  /** Gives a command that was refused once more, under the same identity. */
  again(of: LeaderConnection, issued: Issued): void {
    const { operation } = issued
    issued.outcome = { kind: 'pending' }
    const settled = this.#settle(issued, of.request(operation, issued.input as Input<typeof operation>))
    this.#open.add(settled)
    void settled.finally(() => this.#open.delete(settled))
  }

  of(sessionId: string): Issued[] {
    const known = this.#bySession.get(sessionId)
    if (known !== undefined) return known
    const made: Issued[] = []
    this.#bySession.set(sessionId, made)
    return made
  }

  /** How many have no answer yet. */
  get openCount(): number {
    return this.#open.size
  }

  /** Resolves when every command given so far has an answer. */
  async whenSettled(): Promise<void> {
    await Promise.all(this.#open)
  }

  async #settle(issued: Issued, reply: Promise<unknown>): Promise<void> {
    try {
      issued.outcome = { kind: 'acknowledged', result: await reply }
      this.acknowledged += 1
    } catch (error) {
      if (!(error instanceof ReplicaOperationError)) throw error
      issued.outcome = { kind: 'refused', code: error.code }
    }
  }
}

/** The acknowledged commands of a list, each with its result. */
export function acknowledged(
  list: readonly Issued[],
): readonly { readonly issued: Issued; readonly result: unknown }[] {
  return list.flatMap(issued =>
    issued.outcome.kind === 'acknowledged' ? [{ issued, result: issued.outcome.result }] : [],
  )
}

/** Refused commands whose identity nobody used with success: nothing of them may be stored. */
export function withoutTrace(list: readonly Issued[]): readonly Issued[] {
  const key = (of: Issued): string => `${receiptScope(of.operation)}\n${of.identity}`
  const stored = new Set(acknowledged(list).map(({ issued }) => key(issued)))
  return list.filter(issued => issued.outcome.kind === 'refused' && !stored.has(key(issued)))
}

/** Snapshots in results are read when the reply is made; everything else of a result is what it was the first time. */
export function isSameReply(operation: CommandName, first: unknown, again: unknown): boolean {
  return isDeepStrictEqual(withoutTurn(operation, first), withoutTurn(operation, again))
}

function withoutTurn(operation: CommandName, result: unknown): unknown {
  if (operation !== 'turn.start' && operation !== 'turn.interrupt') return result
  const { turn, ...rest } = result as { turn: { turnId: string; runId: string } }
  return { ...rest, turn: { turnId: turn.turnId, runId: turn.runId } }
}
