import type { SessionProjection } from '../../../../schema/entities/projection.ts'
import { isTerminal } from '../../../../schema/entities/turn.ts'
import { LIMITS } from '../../../../schema/limits.ts'
import type { LeaderConnection, SubscriptionFrame } from '../../../client/types.ts'
import type { CommandBody, CommandContext } from '../../context.ts'
import { eventLine } from '../../follow/event-lines.ts'
import { followSession } from '../../follow/followed-session.ts'
import { createLedgerTail, isPassing } from '../../follow/ledger-tail.ts'
import { createLineText } from '../../follow/line-text.ts'
import { createTranscriptPrinter, type PastReader, type TranscriptPrinter } from '../../follow/transcript-printer.ts'

/** `headwater watch`: follows until it is ended; the session goes on, whoever works in it. */
export const body: CommandBody = async (context, { args: [sessionId = ''], options }) => {
  const isLines = options.format === 'jsonl' || (options.format === undefined && context.flags.json)
  const connection = await context.connect({ spawn: 'known_root', isPatient: true })
  const watched = { context, connection, sessionId, since: options.since as number | undefined }
  return isLines ? watchLines(watched) : watchText(watched)
}

interface Watched {
  readonly context: CommandContext
  readonly connection: LeaderConnection
  readonly sessionId: string
  readonly since: number | undefined
}

/** Lines come from the ledger; the view only says when there is more. So none is missing or doubled after a reconnect. */
async function watchLines({ context, connection, sessionId, since }: Watched): Promise<never> {
  const { out } = context
  let seq = since ?? 0
  const own = (type: string, fields: object) => out.json(eventLine({ sessionId, seq, at: Date.now() }, type, fields))
  const followed = await followSession(context, connection, sessionId, {
    onFreshness: ({ state }) => void own('connection.changed', { state }),
  })
  seq = since ?? followed.current.revision
  let tail = createLedgerTail(connection, sessionId, seq)
  let aside = followed.aside
  await own('session.opened', { session: followed.current.session })
  for (;;) {
    if (followed.aside !== aside) {
      // The root went back: what comes next follows from what it holds now.
      aside = followed.aside
      seq = followed.current.revision
      tail = createLedgerTail(connection, sessionId, seq)
    }
    await tail.readTo(followed.current.revision, line => {
      seq = line.seq
      return out.json(line)
    })
    await followed.changed()
  }
}

async function watchText({ context, connection, sessionId, since }: Watched): Promise<never> {
  const frames: SubscriptionFrame[] = []
  const followed = await followSession(context, connection, sessionId, {
    onFrame: frame => {
      // What is dropped here the next state brings: frames are a convenience, the state is what counts.
      if (frames.length >= LIMITS.unreadFrames) frames.length = 0
      frames.push(frame)
    },
  })
  const first = followed.current
  if (since !== undefined) await printSince({ context, connection, sessionId, since }, first.revision)
  const past: PastReader = {
    page: (id, page) => connection.transcript(id, page),
    turn: (id, turnId) => connection.queryTurn({ sessionId: id, turnId }),
  }
  const printer = createTranscriptPrinter(context.out, past, {
    afterSeq: since === undefined ? startOfTurn(first) : lastWholeSeq(first),
    turnId: first.rootTurn !== null && isTerminal(first.rootTurn.status) ? first.rootTurn.turnId : undefined,
  })
  context.notices.notice(
    `following ${first.session.title === '' ? sessionId : first.session.title}; Ctrl+C leaves it running`,
  )
  await printed(() => printer.state(first))
  for (;;) {
    await followed.changed()
    const isWhole = await printFrames(printer, frames.splice(0))
    if (!isWhole) await printed(() => printer.state(followed.current))
  }
}

async function printFrames(printer: TranscriptPrinter, frames: readonly SubscriptionFrame[]): Promise<boolean> {
  let isWhole = true
  for (const frame of frames) {
    if (frame.kind === 'subscription.session_delta') await printer.delta(frame.delta)
    else if ('snapshot' in frame) isWhole = await printed(() => printer.state(frame.snapshot))
  }
  return isWhole
}

/** False when history could not be read just now; the next state brings it. */
async function printed(print: () => Promise<void>): Promise<boolean> {
  try {
    await print()
    return true
  } catch (error) {
    if (isPassing(error)) return false
    throw error
  }
}

async function printSince(
  { context, connection, sessionId, since }: Watched & { readonly since: number },
  to: number,
): Promise<void> {
  const textOf = createLineText()
  await createLedgerTail(connection, sessionId, since).readTo(to, async line => {
    const text = textOf(line)
    if (text !== undefined) await context.out.text(`${text}\n\n`)
  })
}

/** The entry before the running turn's first one, or the newest entry when no turn runs. */
function startOfTurn({ rootTurn, transcript }: SessionProjection): number {
  if (rootTurn === null || isTerminal(rootTurn.status)) return transcript.lastSeq
  const first = transcript.entries.find(entry => entry.turnId === rootTurn.turnId)
  return first === undefined ? transcript.lastSeq : first.seq - 1
}

/** The newest entry in front of any text that still streams. */
function lastWholeSeq({ transcript }: SessionProjection): number {
  const open = transcript.entries.find(entry => 'isStreaming' in entry && entry.isStreaming === true)
  return open === undefined ? transcript.lastSeq : open.seq - 1
}
