import { describe, expect, test } from 'vitest'
import { spanWords } from '../../../replica/view/time-words.ts'
import { EVENT_TABLE } from '../../../replica/view/timeline/event-table.ts'
import { actorWords, eventWords, timelineRow } from '../../../replica/view/timeline/row.ts'
import { sparkline, sparklineWords } from '../../../replica/view/timeline/sparkline.ts'
import { StepTimes, type TimedRow } from '../../../replica/view/timeline/step-times.ts'
import { filterTimeline, groupByTurn, recordsPerMinute, timeWordsOf } from '../../../replica/view/timeline/timeline.ts'
import type { Actor } from '../../../schema/entities/primitives.ts'
import type { EventPayloads, EventType, LedgerEvent, LedgerRecord } from '../../../schema/events.ts'
import { GENESIS_HASH } from '../../../schema/ids.ts'
import { LIMITS } from '../../../schema/limits.ts'

const TUI = { surface: 'tui', clientInstanceId: 'client-of-ada' }
const of = { turnId: 'turn-1', runId: 'run-1' }
const content = { text: 'Do it' }
const step = { id: 's1', title: 'One', description: '', status: 'completed' as const }
const execution = {
  executionId: 'x1',
  planId: 'p1',
  proposalId: 'q1',
  contentDigest: `sha256:${'0'.repeat(64)}`,
  title: 'Fix it',
  status: 'active' as const,
  steps: [step],
  startedAt: 1,
}
const proposal = {
  planId: 'p1',
  proposalId: 'q1',
  sessionId: 's1',
  turnId: 'turn-1',
  revision: 1,
  contentDigest: execution.contentDigest,
  title: 'Fix it',
  steps: [{ id: 's1', title: 'One', description: '' }],
  status: 'pending_approval' as const,
  submittedAt: 1,
}
const task = { id: 'k1', key: 'T1', subject: 'Look', status: 'in_progress' as const, createdAt: 1, updatedAt: 1 }
const header = { backend: 'scripted', cwd: '/src' } as EventPayloads['session_created']['header']
const admission = {
  turnId: 'turn-1',
  runId: 'run-1',
  userMessageId: 'm1',
  execution: { kind: 'external_message' },
  previousRootTurnId: null,
  normalizedInput: content,
  sourceMessages: [],
  submittedBy: TUI,
  admittedAt: 1,
} as EventPayloads['turn_admitted']['admission']

/** One payload of every type, and how it is told. */
const TOLD: { readonly [T in EventType]: readonly [EventPayloads[T], string] } = {
  session_created: [{ header }, 'session made for scripted in /src'],
  session_updated: [{ patch: { title: 'New', alwaysAllowed: ['a'] } }, 'header changed: title New, alwaysAllowed'],
  session_archived: [{}, 'session put away'],
  session_unarchived: [{}, 'session taken out of the archive'],
  session_forked: [
    { sourceSessionId: 'source-session', sourceTurnId: 'turn-0', throughSeq: 1, tail: [] },
    'copied from session source-s, up to turn turn-0',
  ],
  session_deleted: [{}, 'session removed'],
  turn_admitted: [{ admission }, 'turn admitted'],
  run_created: [of, 'run that was brought along'],
  run_started: [of, 'run started'],
  user_message_appended: [{ ...of, messageId: 'm1', content, submittedBy: null, at: 1 }, 'message: Do it'],
  steering_delivered: [
    { ...of, entryId: 'n1', messageId: 'm1', content, submittedBy: null },
    'steering message reached the run: Do it',
  ],
  text_sealed: [
    { ...of, blockId: 'b1', kind: 'thinking', messageId: 'm1', offset: 0, text: 'Hm\n\u001b[31m', startedAt: 1 },
    'thought: Hm',
  ],
  notice_appended: [{ ...of, entryId: 'n1', text: 'Look out' }, 'notice: Look out'],
  tool_started: [
    { ...of, toolCallId: 'c1', name: 'read', title: 'a.ts', status: 'pending', input: null },
    'tool started: read: a.ts',
  ],
  tool_updated: [{ ...of, toolCallId: 'c1', status: 'in_progress' }, 'tool went on: running'],
  tool_ended: [{ ...of, toolCallId: 'c1', status: 'completed', output: 'abc' }, 'tool completed, gave 3 characters'],
  agent_plan_reported: [{ ...of, entries: [] }, 'the agent told its plan: 0 entries'],
  process_started: [{ ...of, process: {} }, 'process of the agent started'],
  agent_session_remembered: [
    { ...of, backend: 'acp', agentSessionId: 'a' },
    'acp named its own session, to go on with it later',
  ],
  usage_reported: [{ ...of, usage: { used: 12, cost: null } }, 'usage told: used 12'],
  run_completed: [{ ...of, eventId: 'e1' }, 'run completed'],
  run_failed: [{ ...of, eventId: 'e1', failureClass: 'network' }, 'run failed: the network failed'],
  run_cancelled: [{ ...of, eventId: 'e1', abortSource: 'user_stop' }, 'run stopped: somebody stopped it'],
  turn_settled: [{ ...of, terminalEventId: 'e1' }, 'turn settled'],
  interaction_opened: [
    { ...of, interactionId: 'i1', request: { kind: 'question', questions: [{ question: 'Why?', options: [] }] } },
    'asked: Why?',
  ],
  interaction_answered: [
    {
      ...of,
      interactionId: 'i1',
      outcome: { kind: 'answer', answer: { kind: 'form', values: {} }, by: TUI, at: 1 },
    },
    'answered by a terminal',
  ],
  interaction_closed: [{ ...of, interactionId: 'i1', reason: 'expired' }, 'question closed: nobody answered in time'],
  queue_entry_added: [
    { entryId: 'n1', messageId: 'm1', content, placement: 'current_turn', submittedBy: TUI },
    'steering message waits: Do it',
  ],
  queue_entry_edited: [{ entryId: 'n1', content }, 'waiting message changed: Do it'],
  queue_entry_removed: [{ entryId: 'n1' }, 'waiting message taken back'],
  queue_entry_moved: [{ entryId: 'n1', before: 'n2' }, 'waiting message moved before another'],
  queue_entry_promoted: [{ entryId: 'n1' }, 'waiting message made a steering one'],
  queue_entry_held: [{ entryId: 'n1', by: TUI }, 'waiting message held: a terminal changes it'],
  queue_entry_released: [{ entryId: 'n1' }, 'waiting message let go'],
  queue_entries_pulled: [{ ...of, entryIds: ['n1'] }, 'the run took 1 waiting message'],
  queue_entries_returned: [{ ...of, entryIds: ['n1', 'n2'] }, 'the run gave back 2 waiting messages'],
  queue_entries_parked: [{ entryIds: ['n1'], reason: 'turn_stopped' }, '1 waiting message parked: a turn was stopped'],
  queue_resumed: [{ entryIds: ['n1'] }, '1 waiting message may run again'],
  queue_retracted: [{ entryIds: ['n1'] }, '1 waiting message taken back'],
  queue_handed_on: [{ entryIds: ['n1'], turnId: 'turn-2' }, '1 waiting message became this turn'],
  plan_submitted: [{ ...of, proposal }, 'plan proposed: Fix it, 1 step'],
  plan_revision_requested: [{ proposalId: 'q1', feedback: 'Shorter' }, 'changes to the plan asked for: Shorter'],
  plan_abandoned: [{ proposalId: 'q1' }, 'plan dropped'],
  plan_approved: [{ proposalId: 'q1', execution }, 'plan approved'],
  plan_progress_updated: [{ ...of, executionId: 'x1', steps: [step] }, 'plan went on: 1/1'],
  plan_execution_completed: [{ ...of, executionId: 'x1', steps: [step] }, 'plan carried out'],
  plan_execution_cancelled: [{ execution }, 'plan given up'],
  plan_execution_interrupted: [
    { executionId: 'x1', reason: 'leader_stopped' },
    'plan interrupted: the leader was stopped',
  ],
  plan_execution_resumed: [{ execution }, 'plan goes on'],
  task_created: [{ ...of, task }, 'task T1 made: Look'],
  task_updated: [{ ...of, task }, 'task T1 in progress: Look'],
  ledger_compacted: [
    { state: {}, active: null, digest: '' },
    'what came before was put together; its single records are gone',
  ],
}

function record(
  revision: number,
  events: readonly LedgerEvent[],
  { at = revision * 1_000, actor = 'run' as Actor } = {},
): LedgerRecord {
  return { revision, epochNumber: 1, at, actor, events, prevHash: GENESIS_HASH, hash: GENESIS_HASH }
}

const event = <T extends EventType>(type: T, payload: object = TOLD[type][0]): LedgerEvent => ({
  type,
  payload: payload as LedgerEvent['payload'],
})

function timed(records: readonly LedgerRecord[]): { readonly rows: readonly TimedRow[]; readonly times: StepTimes } {
  const times = new StepTimes()
  return { rows: records.map(each => times.add(timelineRow(each))), times }
}

/** A turn with a question, a tool and a message that waits. */
const TURN: readonly LedgerRecord[] = [
  record(1, [event('session_created')], { actor: TUI }),
  record(2, [event('turn_admitted')], { at: 2_000, actor: TUI }),
  record(3, [event('run_started'), event('user_message_appended')], { at: 2_250 }),
  record(4, [event('interaction_opened')], { at: 4_000 }),
  record(5, [event('queue_entry_added')], { at: 5_000, actor: TUI }),
  record(6, [event('interaction_answered')], { at: 7_000, actor: TUI }),
  record(7, [event('steering_delivered')], { at: 8_500 }),
  record(8, [event('text_sealed', { ...TOLD.text_sealed[0], startedAt: 8_250 })], { at: 9_000 }),
  record(9, [event('run_completed'), event('turn_settled')], { at: 62_000 }),
  record(10, [event('session_archived')], { at: 63_000, actor: 'leader' }),
]

describe('experience 9.1 the words of a ledger', () => {
  test.each(Object.entries(TOLD))('experience 9.1 %s is told in plain words', (type, [payload, words]) => {
    expect(eventWords({ type, payload: payload as unknown as LedgerEvent['payload'] })).toBe(words)
  })

  test('experience 9.1 what is told of an event of any type is one short line that moves no terminal', () => {
    const evil = `\u001b]0;x\u0007${'\u202eé\n'.repeat(4_000)}`
    const strings = (value: unknown): unknown => {
      if (typeof value === 'string') return value.length > 6 ? evil : value
      if (Array.isArray(value)) return value.map(strings)
      if (typeof value !== 'object' || value === null) return value
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, strings(inner)]))
    }
    for (const [type, [payload]] of Object.entries(TOLD)) {
      const words = eventWords({ type, payload: strings(payload) as LedgerEvent['payload'] })
      expect(words).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)
      expect(words.length).toBeLessThanOrEqual(LIMITS.timelineWordsChars)
    }
  })

  test('experience 9.1 a type or a shape that is not known is told by its name, and hides nothing else', () => {
    expect(eventWords({ type: 'moon_landed', payload: {} })).toBe('moon landed')
    for (const type of Object.keys(EVENT_TABLE)) expect(eventWords({ type, payload: {} })).not.toBe('')
    const row = timelineRow(record(4, [{ type: 'turn_admitted', payload: {} }, event('session_archived')]))
    expect(row).toMatchObject({ words: 'turn admitted · session put away', kinds: ['turn', 'session'], marks: [] })
  })

  test('experience 9.1 who did it is told by the kind of replica', () => {
    const tell = (actor: unknown) => actorWords(actor)
    expect([tell('leader'), tell('run'), tell(TUI), tell({ surface: 'mine' }), tell(null), tell(7)]).toEqual([
      'the leader',
      'the run',
      'a terminal',
      'mine',
      'nobody known',
      'nobody known',
    ])
    expect(timelineRow(record(1, [], { actor: TUI }))).toMatchObject({ who: 'a terminal', client: 'client-o' })
  })

  test('experience 9.1 a record of many events tells what matters, and how much more there is', () => {
    const settled = timelineRow(record(9, [event('turn_settled'), event('run_completed')]))
    expect(settled.words).toBe('run completed')
    const many = timelineRow(
      record(
        9,
        Array.from({ length: 6 }, () => event('task_created')),
      ),
    )
    expect(many.words).toBe(`${Array.from({ length: 4 }, () => 'task T1 made: Look').join(' · ')} · and 2 more`)
  })
})

describe('experience 9.1 how long each step took', () => {
  test('experience 9.1 steps are measured where they end, gaps everywhere', () => {
    const { rows, times } = timed(TURN)
    expect(rows.map(row => timeWordsOf(row))).toEqual([
      '',
      '+1.0 s',
      'started after 250 ms',
      '+1.7 s',
      '+1.0 s',
      'answered after 3.0 s',
      'delivered after 3.5 s',
      'first text after 6.0 s',
      'turn took 1:00',
      '+1.0 s',
    ])
    expect(times.summary()).toEqual([
      { step: 'start', count: 1, medianMs: 250, p95Ms: 250, maxMs: 250 },
      { step: 'first_text', count: 1, medianMs: 6_000, p95Ms: 6_000, maxMs: 6_000 },
      { step: 'turn', count: 1, medianMs: 60_000, p95Ms: 60_000, maxMs: 60_000 },
      { step: 'answer', count: 1, medianMs: 3_000, p95Ms: 3_000, maxMs: 3_000 },
      { step: 'queue', count: 1, medianMs: 3_500, p95Ms: 3_500, maxMs: 3_500 },
    ])
  })

  test('experience 9.1 median and percentile are of what was measured, and a clock that went back gives no negative time', () => {
    const tool = (id: number, from: number, ms: number) => [
      record(id, [event('tool_started', { ...TOLD.tool_started[0], toolCallId: `c${id}` })], { at: from }),
      record(id + 1, [event('tool_ended', { ...TOLD.tool_ended[0], toolCallId: `c${id}` })], { at: from + ms }),
    ]
    const { times } = timed(Array.from({ length: 20 }, (_, i) => tool(2 * i + 1, i * 1_000, (i + 1) * 10)).flat())
    expect(times.summary()).toEqual([{ step: 'tool', count: 20, medianMs: 100, p95Ms: 190, maxMs: 200 }])
    const back = timed([...tool(1, 10_000, -50)])
    expect(back.rows[1]).toMatchObject({ sinceMs: 0, steps: [{ step: 'tool', ms: 0 }] })
  })

  test('experience 9.1 what began and never ends takes bounded memory, and counts only what ended', () => {
    const times = new StepTimes()
    const opened = LIMITS.timelineOpenSteps + 10
    const row = (id: number, type: 'interaction_opened' | 'interaction_answered') =>
      timelineRow(record(id, [event(type, { ...TOLD[type][0], interactionId: `i${id % opened}` })], { at: id }))
    for (let id = 0; id < opened; id++) times.add(row(id, 'interaction_opened'))
    for (let id = opened; id < 2 * opened; id++) times.add(row(id, 'interaction_answered'))
    expect(times.summary()).toMatchObject([{ step: 'answer', count: LIMITS.timelineOpenSteps }])
  })

  test.each([
    [0, '0 ms'],
    [999, '999 ms'],
    [1_250, '1.2 s'],
    [59_999, '59.9 s'],
    [61_000, '1:01'],
    [-5, '0 ms'],
  ])('experience 9.1 %i ms is %s', (ms, words) => {
    expect(spanWords(ms)).toBe(words)
  })
})

describe('experience 9.1 what is shown of a timeline', () => {
  test('experience 9.1 records stand by turn; what names none stays with the turn it happened in', () => {
    const groups = groupByTurn(timed(TURN).rows)
    expect(groups.map(({ turnId, rows }) => [turnId, rows.map(({ revision }) => revision)])).toEqual([
      [null, [1]],
      ['turn-1', [2, 3, 4, 5, 6, 7, 8, 9]],
      [null, [10]],
    ])
  })

  test('experience 9.1 a filter finds kinds, people, numbers and words', () => {
    const { rows } = timed(TURN)
    const found = (filter: string) => filterTimeline(rows, filter).map(({ revision }) => revision)
    expect(found('')).toHaveLength(10)
    expect(found('question')).toEqual([4, 6])
    expect(found('queue TERMINAL')).toEqual([5])
    expect(found('#7')).toEqual([7])
    expect(found('delivered after')).toEqual([7])
    expect(found('nothing like that')).toEqual([])
  })

  test('experience 9.1 records are counted by the minute of the leader', () => {
    expect(recordsPerMinute(timed(TURN).rows)).toEqual([8, 2])
    expect(recordsPerMinute([])).toEqual([])
    const far = timed([record(1, []), record(2, [], { at: 86_400_000 })]).rows
    expect(recordsPerMinute(far)).toHaveLength(LIMITS.timelineMinutes)
  })

  test('experience 9.1 bars begin at zero, the newest stand last, and numbers say what they are', () => {
    expect(sparkline([1, 2, 4, 8], 8)).toEqual({ bars: '▁▂▄█', min: 1, max: 8, last: 8 })
    expect(sparkline([9, 0, 5], 2)).toEqual({ bars: '▁█', min: 0, max: 5, last: 5 })
    expect(sparkline([0, 0], 4)).toEqual({ bars: '▁▁', min: 0, max: 0, last: 0 })
    expect(sparkline([Number.NaN, -3, 2], 4)).toEqual({ bars: '▁▁█', min: 0, max: 2, last: 2 })
    expect([sparkline([], 4), sparkline([1], 0)]).toEqual([null, null])
    const words = sparklineWords({ min: 10, max: 4_000, last: 2_000 }, spanWords)
    expect(words).toBe('least 10 ms, most 4.0 s, newest 2.0 s')
  })
})
