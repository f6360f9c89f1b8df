import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type Backend, BackendFailure, type RunContext } from '../../leader/execution/backend.ts'
import { createDriver } from '../../leader/execution/driver.ts'
import { LIMITS } from '../../schema/limits.ts'
import { utf8Bytes } from '../../schema/text.ts'
import { FakeClock, settle } from '../support/fake-clock.ts'
import { FakeArtifacts, FakeRunPort } from '../support/fake-run-port.ts'

function drive(start: (run: RunContext) => Promise<void>, port = new FakeRunPort({ text: 'x' })) {
  const clock = new FakeClock()
  const artifacts = new FakeArtifacts()
  const counts = { late: 0, cutOff: 0, ended: [] as string[] }
  const backend: Backend = { kind: 'scripted', start }
  const startRun = createDriver({
    backends: new Map([['scripted', backend]]),
    artifacts,
    clock,
    metrics: {
      runStarted() {},
      runEnded: (_, kind) => counts.ended.push(kind),
      runCutOff: () => counts.cutOff++,
      lateOutput: () => counts.late++,
    },
  })
  return { port, clock, artifacts, counts, handle: startRun(port) }
}

test('T11 a backend that returns ends its run as completed, once', async () => {
  const { port, handle, counts } = drive(run => run.text('hello'))
  await handle.done
  expect({ ends: port.ends, text: port.textOf('assistant'), ended: counts.ended }).toEqual({
    ends: [{ kind: 'completed' }],
    text: 'hello',
    ended: ['completed'],
  })
})

test('T11 what a backend sent without waiting is there before the end', async () => {
  const { port, handle } = drive(async run => {
    void run.text('a')
    void run.toolStart({ toolCallId: 't', name: 'n', title: 'T', input: 'i' })
    void run.toolEnd({ toolCallId: 't', status: 'completed', output: 'x'.repeat(LIMITS.inlineTextBytes + 1) })
    void run.text('b')
  })
  await handle.done
  expect(port.effects.map(effect => effect.kind)).toEqual(['text', 'tool_start', 'tool_end', 'text'])
})

test('T11 a BackendFailure keeps its class, and its message is cut at 1 KiB between characters', async () => {
  const { port, handle } = drive(async () => {
    throw new BackendFailure('rate_limit', `x${'ä'.repeat(2000)}\ud800`)
  })
  await handle.done
  const [end] = port.ends
  expect(end).toMatchObject({ kind: 'failed', failureClass: 'rate_limit' })
  const message = end?.kind === 'failed' ? (end.failureMessage ?? '') : ''
  expect([utf8Bytes(message), message.isWellFormed()]).toEqual([LIMITS.failureMessageBytes - 1, true])
})

test.each([
  ['an error', async () => Promise.reject(new Error('boom')), 'boom'],
  ['a string', async () => Promise.reject('boom'), 'boom'],
  [
    'synchronously',
    () => {
      throw new Error('boom')
    },
    'boom',
  ],
])('T11 any other throw (%s) ends the run as backend_error', async (_, start, failureMessage) => {
  const { port, handle } = drive(start)
  await handle.done
  expect(port.ends).toEqual([{ kind: 'failed', failureClass: 'backend_error', failureMessage }])
})

test('T11 a session with an unknown backend fails with the names of those that exist', async () => {
  const { port, handle } = drive(async () => {}, new FakeRunPort({ text: 'x', header: { backend: 'no\nsuch' } }))
  await handle.done
  expect(port.ends).toEqual([
    {
      kind: 'failed',
      failureClass: 'backend_error',
      failureMessage: 'This leader has no backend named "no\\nsuch". It has: scripted.',
    },
  ])
})

test.each([
  ['throws the reason', async (run: RunContext) => run.steeringWaits()],
  [
    'throws something else',
    async (run: RunContext) =>
      run.steeringWaits().catch(() => Promise.reject(new BackendFailure('backend_exited', 'x'))),
  ],
  ['returns', async (run: RunContext) => run.steeringWaits().catch(() => {})],
])('T9 T8 a stopped run is cancelled, whether its backend %s', async (_, start) => {
  const { port, handle, counts } = drive(start)
  await settle()
  await handle.stop('user_stop', 5_000)
  expect([port.ends, counts.cutOff]).toEqual([[{ kind: 'cancelled', abortSource: 'user_stop' }], 0])
})

test('T9 a stop before the backend began keeps it from beginning', async () => {
  let hasBegun = false
  const { port, handle } = drive(async () => {
    hasBegun = true
  })
  await handle.stop('user_stop', 5_000)
  expect([port.ends, hasBegun]).toEqual([[{ kind: 'cancelled', abortSource: 'user_stop' }], false])
})

test('T9 BL-06 a backend that ignores its stop is cut off after 5 s; its late output has no effect and is counted', async () => {
  let late: (() => Promise<unknown>) | undefined
  const { port, handle, clock, counts } = drive(async run => {
    await run.text('before')
    late = () =>
      Promise.allSettled([
        run.text('late'),
        run.toolStart({ toolCallId: 't', name: 'n', title: 't' }),
        run.ack(['e']),
        run.ask({ questions: [{ question: 'q', options: [] }] }),
      ])
    await new Promise(() => {})
  })
  await settle()
  let isStopped = false
  const stopping = handle.stop('user_stop', LIMITS.stopCutoffMs).then(() => {
    isStopped = true
  })
  await late?.()
  await clock.advance(LIMITS.stopCutoffMs - 1)
  expect([isStopped, port.ends]).toEqual([false, []])
  await clock.advance(1)
  await stopping
  await late?.()
  expect({ effects: port.effects.length, ends: port.ends, ...counts }).toEqual({
    effects: 1,
    ends: [{ kind: 'cancelled', abortSource: 'user_stop' }],
    late: 8,
    cutOff: 1,
    ended: ['cancelled'],
  })
  expect(clock.timers).toBe(0)
})

test('T9 a second stop may shorten the wait and does not change who stopped it', async () => {
  const { port, handle, clock } = drive(() => new Promise(() => {}))
  await settle()
  const first = handle.stop('user_stop', 5_000)
  const second = handle.stop('leader_shutdown', 100)
  await clock.advance(100)
  await Promise.all([first, second])
  expect(port.ends).toEqual([{ kind: 'cancelled', abortSource: 'user_stop' }])
  await handle.stop('leader_shutdown', 100)
  expect([port.ends.length, clock.timers]).toEqual([1, 0])
})

test('T9 after a regular end nothing of the run reaches the session, and nothing crashes', async () => {
  const rejections: unknown[] = []
  const onRejection = (error: unknown): unknown => rejections.push(error)
  process.on('unhandledRejection', onRejection)
  let kept: RunContext | undefined
  const { port, handle, counts } = drive(async run => {
    kept = run
    void run.ask({ questions: [{ question: 'q', options: [] }] })
    void run.toolEnd({ toolCallId: 'never started', status: 'failed' })
  })
  await handle.done
  void kept?.text('late')
  void kept?.toolUpdate({ toolCallId: 't' })
  void kept?.usage({ a: 1 })
  void kept?.pullSteering()
  await delay(20)
  process.off('unhandledRejection', onRejection)
  expect([port.effects.map(effect => effect.kind), counts.late, rejections]).toEqual([['interaction'], 4, []])
})

test('T9 a backend that sends without ever waiting is failed before it fills the memory', async () => {
  const port = new FakeRunPort({ text: 'x' })
  port.stall()
  const { handle } = drive(async run => {
    for (let i = 0; i <= LIMITS.runCallsInFlight; i++) void run.text('x')
    await run.steeringWaits()
  }, port)
  await settle()
  port.release()
  await handle.done
  expect(port.ends).toEqual([
    {
      kind: 'failed',
      failureClass: 'backend_error',
      failureMessage: 'the backend sends faster than its output can be stored, without waiting',
    },
  ])
})

test('I3 a wait begins only when the interaction is durable, and resolves to its outcome', async () => {
  const port = new FakeRunPort({ text: 'x' })
  port.stall()
  const { handle } = drive(async run => {
    const outcome = await run.ask({ questions: [{ question: 'q', options: [{ label: 'a' }] }] })
    await run.text(JSON.stringify(outcome))
  }, port)
  await settle()
  expect(port.pending.length).toBe(1)
  port.release()
  const answer = { kind: 'question', answers: [{ labels: ['a'] }] } as const
  port.answer({ kind: 'question', answers: [{ labels: ['a'] }] })
  await handle.done
  expect(JSON.parse(port.textOf('assistant'))).toMatchObject({ kind: 'answer', answer })
})

test('I5 an interaction with a limit expires by elapsed time; one without never does', async () => {
  const { port, handle, clock } = drive(async run => {
    const form = { schema: { type: 'object' } }
    const limited = run.form({ ...form, expiresInMs: 1_000 })
    const unlimited = run.form(form)
    const outcome = await limited
    await run.text(outcome.kind === 'closure' ? outcome.reason : 'answered')
    await unlimited
  })
  await clock.advance(999)
  expect(port.pending.length).toBe(2)
  await clock.advance(1)
  expect([port.textOf('assistant'), port.pending.length]).toEqual(['expired', 1])
  await clock.advance(1_000_000)
  expect(port.pending.length).toBe(1)
  await handle.stop('user_stop', 1)
  expect(clock.timers).toBe(0)
})

test('I1 C4 a request that does not fit fails its run instead of reaching the session', async () => {
  const { port, handle } = drive(async run => {
    await expect(run.ask({ questions: [] })).rejects.toThrow('does not fit its schema')
    await expect(run.form({ schema: JSON.parse('{"properties":{"__proto__":{}}}') })).rejects.toThrow('forbidden key')
    await expect(run.form({ schema: { text: 'x'.repeat(70_000) } })).rejects.toThrow('is over')
  })
  await handle.done
  expect([port.effects, port.ends]).toEqual([[], [{ kind: 'completed' }]])
})

test('L5 a tool text over 32 KiB becomes an artifact with its size and a preview; the text rule comes first', async () => {
  const long = `\ud800${'ä'.repeat(LIMITS.inlineTextBytes)}`
  const { port, handle, artifacts } = drive(async run => {
    await run.toolStart({ toolCallId: 't', name: 'n', title: 'T', input: 'small\udc00' })
    await run.toolEnd({ toolCallId: 't', status: 'completed', output: long })
  })
  await handle.done
  const [hash, stored] = [...artifacts.stored][0] ?? []
  expect(new TextDecoder().decode(stored?.bytes)).toBe(long.toWellFormed())
  expect(port.effects).toEqual([
    { kind: 'tool_start', toolCallId: 't', name: 'n', title: 'T', status: 'in_progress', input: 'small\ufffd' },
    {
      kind: 'tool_end',
      toolCallId: 't',
      status: 'completed',
      output: {
        artifact: hash,
        bytes: LIMITS.inlineTextBytes * 2 + 3,
        preview: `\ufffd${'ä'.repeat((LIMITS.artifactPreviewBytes - 4) / 2)}`,
      },
    },
  ])
})

test('L4 at most 4 updates a second of a call reach the session, merged, with a tail of at most 4 KiB', async () => {
  const { port, handle, clock } = drive(async run => {
    await run.toolStart({ toolCallId: 't', name: 'n', title: 'T' })
    for (let i = 0; i < 50; i++) {
      await run.toolUpdate({
        toolCallId: 't',
        outputTail: `${'😀'.repeat(2_000)}${i}`,
        ...(i === 3 ? { title: 'third' } : {}),
      })
      await new Promise<void>(resolve => clock.schedule(20, resolve))
    }
    await run.toolUpdate({ toolCallId: 't', title: 'last' })
    await run.toolEnd({ toolCallId: 't', status: 'completed' })
  })
  await clock.advance(2_000)
  await handle.done
  const updates = port.commands('tool_update')
  expect(updates.length).toBeLessThanOrEqual(6)
  expect(updates.find(update => update.title === 'third')).toBeDefined()
  expect(updates.at(-1)).toMatchObject({ title: 'last' })
  for (const { outputTail } of updates) {
    expect(utf8Bytes(outputTail ?? '')).toBeLessThanOrEqual(LIMITS.toolTailBytes)
    expect((outputTail ?? '').isWellFormed()).toBe(true)
  }
  expect(port.effects.at(-1)).toMatchObject({ kind: 'tool_end' })
})

test('BL-20 C3 long texts are cut between characters, and deltas are passed on as they are', async () => {
  const emoji = '😀'.repeat(20_000)
  const { port, handle } = drive(async run => {
    await run.text('\ud83d')
    await run.text(`\ude00${emoji}`)
    await run.toolStart({ toolCallId: '😀'.repeat(200), name: '😀'.repeat(200), title: `x${'😀'.repeat(2000)}` })
    await run.notice(`x${emoji}`)
    await run.reportPlan([{ content: `x${'😀'.repeat(800)}`, priority: 'high', status: 'pending' }])
  })
  await handle.done
  expect(port.textOf('assistant')).toBe(`😀${emoji}`)
  const pieces = port.effects.flatMap(effect => (effect.kind === 'text' ? [effect.text] : []))
  expect(pieces.slice(2).every(piece => piece.isWellFormed() && utf8Bytes(piece) <= LIMITS.textBlockBytes)).toBe(true)
  const rest = port.effects.filter(effect => effect.kind !== 'text')
  expect(JSON.stringify(rest).isWellFormed()).toBe(true)
  expect(JSON.stringify(rest)).not.toContain('\ufffd')
  const [start] = port.commands('tool_start')
  expect([start?.name.length, start?.title.length, start?.toolCallId.startsWith('call-')]).toEqual([200, 999, true])
})

test('L2 pieces of one message share an id; a tool call begins a new message', async () => {
  const { port, handle } = drive(async run => {
    await run.text('a')
    await run.thinking('t')
    await run.text('b')
    await run.text('own', { messageId: 'mine' })
    await run.text('odd', { messageId: 'no id / at all' })
    await run.toolStart({ toolCallId: 't', name: 'n', title: 'T' })
    await run.text('c')
  })
  await handle.done
  const ids = port.effects.flatMap(effect => (effect.kind === 'text' ? [effect.messageId] : []))
  expect(ids[0]).toBe(ids[2])
  expect(new Set(ids).size).toBe(5)
  expect(ids[3]).toBe('mine')
  expect(ids.every(id => /^[A-Za-z0-9_-]{1,128}$/.test(id))).toBe(true)
})

test('Q5 steering is pulled under a lease, acknowledged or given back to the head', async () => {
  const port = new FakeRunPort({ text: 'x' })
  const [first, second] = [port.steer('one'), port.steer('two')]
  const { handle } = drive(async run => {
    await run.steeringWaits()
    const steers = await run.pullSteering()
    await run.ack([steers[0]?.entryId ?? ''])
    await run.nack([steers[1]?.entryId ?? ''])
    await run.text(steers.map(steer => steer.content.text).join())
  }, port)
  await handle.done
  expect([port.textOf('assistant'), port.inFlight, port.queued, port.effects[0]]).toEqual([
    'one,two',
    [],
    [second],
    { kind: 'ack', entryIds: [first] },
  ])
})
