import { clockWords, dayWords, timeWords } from '../time-words.ts'
import { abortWords, endWords } from '../words.ts'
import type { BrokenTurn, TurnRow } from './row.ts'

/** Shorter turns do not say how long they took. Unit: ms. */
const WORTH_TELLING_MS = 1_000

/** Who began a turn and when: `you · 14:02`, on a new day with the day. */
export function beginningWords({ by, at, isNewDay }: TurnRow): string {
  return [...(by === null ? [] : [by]), `${isNewDay ? `${dayWords(at)} ` : ''}${timeWords(at)}`].join(' · ')
}

/** How a turn came out and how long it took; '' where nothing is known of it. */
export function outcomeWords({ status, duration }: TurnRow): string {
  const isTold = duration !== null && duration.ms >= WORTH_TELLING_MS
  const took = isTold ? `${duration.isExact ? '' : 'over '}${clockWords(duration.ms)}` : ''
  const ended = (how: string): string => (isTold ? `${how} · ${took}` : how)
  switch (status) {
    case 'completed':
      return ended('completed')
    case 'failed':
      return ended('failed')
    case 'cancelled':
      return ended('stopped')
    case 'admitted':
      return 'starts'
    case 'running':
      return 'running'
    case 'waiting_for_user':
      return 'waits for an answer'
    case null:
      return took
    default:
      return status satisfies never
  }
}

/** Why a turn did not come to its own end: `failed: the agent failed: exit code 1`. */
export function brokenWords(turn: BrokenTurn): string {
  return turn.status === 'failed' ? `failed: ${endWords(turn)}` : `stopped: ${abortWords(turn.abortSource)}`
}

const GO_ON = 'Nothing that was said is lost: send a message to go on.'
const AGAIN = 'Send the message again to try it in a new turn.'
const NEXT: Readonly<Record<string, string>> = {
  app_restarted: GO_ON,
  network: `${AGAIN} If it fails again, see whether the network of the leader works.`,
  auth: 'Log in with the agent in a terminal of its own, then send the message again.',
  rate_limit: 'Wait a little, then send the message again.',
  timeout: GO_ON,
  storage: 'See `headwater doctor`; then send a message to go on.',
  step_cap_reached: 'Send a message to let it go on.',
}

/** What can be done next about it. Source: experience 6.5. */
export function nextWords(turn: BrokenTurn): string {
  if (turn.status === 'cancelled') return GO_ON
  return Object.hasOwn(NEXT, turn.failureClass)
    ? (NEXT[turn.failureClass] as string)
    : `${AGAIN} \`headwater logs\` says more.`
}
