import { LIMITS } from '../../../../schema/limits.ts'
import { dayWords, secondWords, spanWords } from '../../../view/time-words.ts'
import type { TimelineKind } from '../../../view/timeline/event-table.ts'
import { STEP_WORDS } from '../../../view/timeline/step-marks.ts'
import type { StepSummary, TimedRow } from '../../../view/timeline/step-times.ts'
import { timeWordsOf } from '../../../view/timeline/timeline.ts'
import { shortId } from '../../../view/timeline/wording.ts'
import type { CommandBody, CommandContext, Outcome } from '../../context.ts'
import { usage } from '../../failure.ts'
import { eventLine } from '../../follow/event-lines.ts'
import { formatInstant } from '../../output/fields.ts'
import { renderTable } from '../../output/table.ts'
import { onNamedSession, resolveSession } from '../../reach/named-session.ts'
import { type InspectedRecord, type ReadTimeline, readTimeline } from './read-timeline.ts'

const DEFAULT_LIMIT = 200
const AS_LINES = 'headwater inspect ID --all --format jsonl'

/** `headwater inspect`: however long the ledger is, no more than a page of it is in memory. Source: experience 9.1, interfaces 5. */
export const body: CommandBody = async (context, { args: [typed = ''], options }) => {
  const isAll = options.all === true
  if (isAll && options.limit !== undefined) throw usage('--all and --limit exclude each other.', AS_LINES)
  const limit = Math.max(1, (options.limit as number | undefined) ?? DEFAULT_LIMIT)
  const isLines = options.format === 'jsonl'
  if (context.flags.json && !isLines && (isAll || limit > LIMITS.inspectedRecords)) {
    throw usage(`--json gives at most ${LIMITS.inspectedRecords} records; take lines for more.`, AS_LINES)
  }
  const connection = await context.connect({ spawn: 'known_root' })
  const sessionId = await resolveSession(context, connection, typed)
  const kind = options.kind as TimelineKind | undefined
  const wanted = { sessionId, ...(isAll ? {} : { newest: limit }), ...(kind === undefined ? {} : { kind }) }
  const timeline = await onNamedSession(connection, sessionId, () => readTimeline(connection, wanted, context.signal))
  if (isLines) return await printLines(context, sessionId, timeline)
  if (context.flags.json) return await asResult(sessionId, timeline)
  return await printTable(context, timeline)
}

/** One line a record, and what all steps took in the last one. */
async function printLines({ out }: CommandContext, sessionId: string, timeline: ReadTimeline): Promise<Outcome> {
  let head = { sessionId, seq: timeline.skipped, at: 0 }
  for await (const inspected of timeline.records) {
    head = { sessionId, seq: inspected.row.revision, at: inspected.row.at }
    await out.json(eventLine(head, 'ledger.record', recordFields(inspected)))
    if (out.isClosed) break
  }
  await out.json(eventLine(head, 'ledger.durations', { durations: timeline.times.summary() }))
  return { isPrinted: true, exitCode: 0 }
}

async function asResult(sessionId: string, timeline: ReadTimeline): Promise<Outcome> {
  const records: object[] = []
  const steps: object[] = []
  for await (const inspected of timeline.records) {
    const { revision, at } = inspected.row
    records.push({ revision, at, ...recordFields(inspected) })
    for (const step of inspected.row.steps) steps.push({ revision, ...step })
  }
  return { result: { sessionId, records, steps, durations: timeline.times.summary() }, text: '' }
}

function recordFields({ record, row }: InspectedRecord): object {
  const { words, kinds, turnId, subjectId, sinceMs, steps } = row
  const { epochNumber, actor, events } = record
  return { actor, epochNumber, kinds, words, turnId, subjectId, sinceMs, steps, events }
}

/** Tables of a page each, the names of the columns above the first one. */
async function printTable(context: CommandContext, timeline: ReadTimeline): Promise<Outcome> {
  let rows: TimedRow[] = []
  let count = 0
  const print = async (): Promise<void> => {
    const table = tableOf(rows, context.out.columns)
    const isFirst = count === 0
    count += rows.length
    rows = []
    await context.out.text(isFirst || context.out.columns === undefined ? table : table.slice(table.indexOf('\n') + 1))
  }
  for await (const { row } of timeline.records) {
    rows.push(row)
    if (rows.length >= LIMITS.ledgerPageRecords) await print()
    if (context.out.isClosed) break
  }
  if (rows.length > 0) await print()
  if (count === 0) context.notices.notice('no records of this kind')
  if (timeline.skipped > 0) context.notices.notice('older records: --limit or --all')
  const durations = timeline.times.summary()
  if (durations.length > 0) context.notices.notice(`\n${durationsTable(durations, context.out.columns)}`)
  return { isPrinted: true, exitCode: 0 }
}

/** A narrow terminal shows no turns and not which replica of a kind it was. */
const WIDE_FROM = 110

function tableOf(rows: readonly TimedRow[], columns: number | undefined): string {
  const isWide = columns === undefined || columns >= WIDE_FROM
  const today = dayWords(Date.now())
  const isToday = columns !== undefined && rows.every(({ at }) => dayWords(at) === today)
  return renderTable(
    [
      { heading: 'REV' },
      { heading: 'AT' },
      ...(isWide ? [{ heading: 'TURN' }] : []),
      { heading: 'WHO' },
      { heading: 'WHAT', canShrink: true },
      { heading: 'TOOK' },
    ],
    rows.map(row => [
      String(row.revision),
      isToday ? secondWords(row.at) : formatInstant(row.at),
      ...(isWide ? [columns === undefined ? (row.turnId ?? '') : shortId(row.turnId ?? '')] : []),
      isWide ? `${row.who} ${row.client}`.trimEnd() : row.who,
      row.words,
      timeWordsOf(row),
    ]),
    columns,
  )
}

function durationsTable(durations: readonly StepSummary[], columns: number | undefined): string {
  return renderTable(
    [{ heading: 'STEP' }, { heading: 'COUNT' }, { heading: 'MEDIAN' }, { heading: 'P95' }, { heading: 'MOST' }],
    durations.map(({ step, count, medianMs, p95Ms, maxMs }) => [
      STEP_WORDS[step],
      String(count),
      ...[medianMs, p95Ms, maxMs].map(spanWords),
    ]),
    columns,
  )
}
