import { useCallback, useMemo, useRef, useState } from 'react'
import { ERRORS } from '../../../schema/errors.ts'
import type { RequestOptions } from '../../client/types.ts'
import { notNowWords } from '../../view/availability-words.ts'
import {
  type BoundInput,
  type BoundName,
  type BoundResult,
  bindCommands,
  type SessionCommands,
} from '../commands/bound-commands.ts'
import { failureOf } from '../store/failure.ts'
import type { LinkState, SessionView } from '../types.ts'
import { useReplicaStore } from './leader-provider.tsx'
import { useReadable, useSelected } from './use-readable.ts'

/** The commands of a session; the same object as long as the session and the store are the same. */
export function useCommands(sessionId: string): SessionCommands {
  const store = useReplicaStore()
  return useMemo(() => bindCommands(() => store.connection, sessionId), [store, sessionId])
}

/** What became of a command. `unknown`: nobody can say whether it was stored; the same identity may be sent again. */
export type CommandOutcome<T> =
  | { readonly kind: 'done'; readonly result: T }
  | { readonly kind: 'refused' | 'unknown'; readonly code: string; readonly message: string }

/** One command of a session, for a button. */
export interface CommandState<N extends BoundName> {
  /** Sends it. Never rejects for what is expected: a refusal is an outcome. */
  run(input: BoundInput<N>, options?: RequestOptions): Promise<CommandOutcome<BoundResult<N>>>
  /**
   * `sending` until the leader has answered; `checking` once the connection was lost before it did, or nobody knows the outcome;
   * `refused` until the next attempt.
   */
  readonly state: 'idle' | 'sending' | 'checking' | 'refused'
  readonly canRun: boolean
  /** Why it cannot be run, or why it was refused, as a sentence. */
  readonly reason: string | null
}

type Phase = { readonly at: 'idle' | 'sending' | 'unknown' } | { readonly at: 'refused'; readonly message: string }

const IDLE: Phase = Object.freeze({ at: 'idle' })
const NOT_ANSWERED: ReadonlySet<string> = new Set(['outcome_unknown', 'timeout'])

/** A command of a session with all a button needs: whether it can be run, why not, and what became of it. Source: experience 5.3, 10.2. */
export function useCommand<N extends BoundName>(sessionId: string, name: N): CommandState<N> {
  const store = useReplicaStore()
  const commands = useCommands(sessionId)
  const link = useReadable(store.link)
  const session = useMemo(() => store.session(sessionId), [store, sessionId])
  const refusal = useSelected(session, sessionRefusal)
  const subject = `${sessionId} ${name}`
  const [last, setLast] = useState({ subject, phase: IDLE })
  const newest = useRef(0)
  const run = useCallback(
    async (input: BoundInput<N>, options?: RequestOptions): Promise<CommandOutcome<BoundResult<N>>> => {
      newest.current += 1
      const mine = newest.current
      const enter = (next: Phase): void => {
        if (newest.current === mine) setLast({ subject, phase: next })
      }
      enter({ at: 'sending' })
      try {
        const result = await commands[name](input, options)
        enter(IDLE)
        return { kind: 'done', result }
      } catch (error) {
        const { code, message } = failureOf(error)
        const isUnknown = NOT_ANSWERED.has(code)
        enter(isUnknown ? { at: 'unknown' } : { at: 'refused', message })
        return { kind: isUnknown ? 'unknown' : 'refused', code, message }
      }
    },
    [commands, name, subject],
  )
  // What became of another session's command says nothing about this one's.
  const phase = last.subject === subject ? last.phase : IDLE
  return { run, ...buttonState(phase, link, refusal) }
}

function buttonState(phase: Phase, link: LinkState, refusal: string | null): Omit<CommandState<never>, 'run'> {
  const notNow = notNowWords(link, 'freshness' in link ? link.freshness : { state: 'offline', asOf: null }) ?? refusal
  if (phase.at === 'sending') {
    return link.kind === 'connected'
      ? { state: 'sending', canRun: false, reason: 'It is being sent.' }
      : { state: 'checking', canRun: false, reason: 'The connection was lost; it is checked whether this arrived.' }
  }
  if (phase.at === 'unknown')
    return { state: 'checking', canRun: notNow === null, reason: ERRORS.outcome_unknown.meaning }
  if (phase.at === 'refused') return { state: 'refused', canRun: notNow === null, reason: notNow ?? phase.message }
  return { state: 'idle', canRun: notNow === null, reason: notNow }
}

function sessionRefusal({ projection, failure }: SessionView): string | null {
  if (failure !== null) return failure.message
  return projection?.session.status === 'damaged' ? ERRORS.session_damaged.meaning : null
}
