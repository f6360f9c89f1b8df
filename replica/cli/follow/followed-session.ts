import type { Freshness, SessionProjection } from '../../../schema/entities/projection.ts'
import { LIMITS } from '../../../schema/limits.ts'
import type { LeaderConnection, SessionSubscription, SubscriptionFrame } from '../../client/types.ts'
import type { CommandContext } from '../context.ts'
import { CliFailure, toFailure } from '../failure.ts'
import { onNamedSession } from '../reach/named-session.ts'

/** How a session is followed. */
export interface FollowOptions {
  /** Give up after this long without a live view; absent: never. Unit: ms. */
  readonly lostAfterMs?: number
  /** Sees every frame, in order. */
  readonly onFrame?: (frame: SubscriptionFrame) => void
  readonly onFreshness?: (freshness: Freshness) => void
}

/** A session that is followed from its state, whatever the connection does meanwhile. */
export interface FollowedSession {
  readonly current: SessionProjection
  readonly freshness: Freshness
  /** The newer copy that is not the leader's any more, if its data root went back. Source: V6. */
  readonly aside: SessionSubscription['aside']
  /**
   * Resolves when something has changed since the last call resolved. Rejects with a CliFailure when the session was removed, the
   * connection is closed for good or was lost for too long, or the time limit of the command has passed.
   */
  changed(): Promise<void>
  /** Counts as a change: something outside the session has to be looked at. */
  poke(): void
  close(): Promise<void>
}

/** Subscribes to a session the person named. Source: V2, V11. */
export async function followSession(
  context: CommandContext,
  connection: LeaderConnection,
  sessionId: string,
  options: FollowOptions = {},
): Promise<FollowedSession> {
  const subscription = await onNamedSession(connection, sessionId, () =>
    connection.openSessionSubscription({ sessionId }),
  )
  const state = createChangeState()
  const lost = watchForLoss(state, options)
  const isLive = () => connection.freshness.state === 'live'
  const offFreshness = connection.on('freshness', freshness => {
    // The command is over; that its own connection is closed now is no news.
    if (context.signal.aborted) return
    options.onFreshness?.(freshness)
    lost.update(isLive())
    state.mark()
  })
  let aside = subscription.aside
  const offChange = subscription.onChange(() => {
    if (subscription.aside !== aside) context.notices.notice(wentBackText(subscription))
    aside = subscription.aside
    state.mark()
  })
  const onLimit = () => state.fail(context.signal.reason)
  context.signal.addEventListener('abort', onLimit, { once: true })
  if (context.signal.aborted) onLimit()
  void readFrames(subscription, state, options.onFrame)

  return {
    get current() {
      return subscription.current
    },
    get freshness() {
      return subscription.freshness
    },
    get aside() {
      return subscription.aside
    },
    changed: state.changed,
    poke: state.mark,
    async close() {
      offFreshness()
      offChange()
      lost.stop()
      context.signal.removeEventListener('abort', onLimit)
      await subscription.close().catch(() => {})
    },
  }
}

function wentBackText({ aside, current }: SessionSubscription): string {
  const seen =
    aside === null ? '' : `; what was shown here up to revision ${aside.projection.revision} is not in it any more`
  return `the data root of this leader went back: this session is at revision ${current.revision} now${seen}`
}

interface ChangeState {
  mark: () => void
  fail(error: unknown): void
  changed(): Promise<void>
}

function createChangeState(): ChangeState {
  let isChanged = false
  let failure: { readonly error: unknown } | undefined
  let wake = () => {}
  return {
    mark() {
      isChanged = true
      wake()
    },
    fail(error) {
      failure ??= { error }
      wake()
    },
    async changed() {
      while (!isChanged && failure === undefined) {
        await new Promise<void>(resolve => {
          wake = resolve
        })
      }
      if (failure !== undefined) throw failure.error
      isChanged = false
    },
  }
}

async function readFrames(
  frames: AsyncIterable<SubscriptionFrame>,
  state: ChangeState,
  onFrame: ((frame: SubscriptionFrame) => void) | undefined,
): Promise<void> {
  try {
    for await (const frame of frames) {
      onFrame?.(frame)
      if (frame.kind === 'subscription.closed')
        throw new CliFailure('not_found', `The session is gone: ${frame.reason}.`)
      state.mark()
    }
    state.fail(new CliFailure('unreachable', 'The connection to the leader was closed.'))
  } catch (error) {
    state.fail(toFailure(error))
  }
}

/** Gives up when the view has not been live for the limit. */
function watchForLoss(state: ChangeState, { lostAfterMs }: FollowOptions) {
  let timer: NodeJS.Timeout | undefined
  let isLost = false
  return {
    update(isLive: boolean) {
      if (isLive === !isLost) return
      isLost = !isLive
      clearTimeout(timer)
      if (isLive || lostAfterMs === undefined) return
      timer = setTimeout(() => {
        state.fail(
          new CliFailure('unreachable', 'The connection to the leader was lost and did not come back.', {
            next: 'headwater status',
          }),
        )
      }, lostAfterMs)
    },
    stop: () => clearTimeout(timer),
  }
}

/** How long commands that wait for something put up with a lost connection. */
export const LOST_AFTER_MS = LIMITS.followLostMs
