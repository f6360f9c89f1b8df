import { expect, test } from 'vitest'
import { createDriver } from '../../leader/execution/driver.ts'
import { createScriptedBackend } from '../../leader/execution/scripted/scripted.ts'
import { FakeClock, settle } from '../support/fake-clock.ts'
import { FakeArtifacts, FakeRunPort } from '../support/fake-run-port.ts'

function play(text: string, prepare: (port: FakeRunPort) => void = () => {}) {
  const clock = new FakeClock()
  const port = new FakeRunPort({ text })
  prepare(port)
  const backend = createScriptedBackend({ clock })
  const artifacts = new FakeArtifacts()
  const handle = createDriver({ backends: new Map([['scripted', backend]]), artifacts, clock })(port)
  return { clock, port, handle, artifacts }
}

function pieces(port: FakeRunPort): readonly string[] {
  return port.effects.flatMap(effect => (effect.kind === 'text' ? [effect.text] : []))
}

test('F any text comes back unchanged, in deltas of at most 9 characters every 45 ms, never half a character', async () => {
  const text = 'Hello 👩‍👩‍👧 مرحبا\r\n\0 — twenty-seven 😀😀😀😀😀😀😀😀😀😀'
  const { clock, port, handle } = play(text)
  await clock.advance(44)
  expect(pieces(port).length).toBe(1)
  await clock.advance(1)
  expect(pieces(port).length).toBe(2)
  await clock.advance(10_000)
  await handle.done
  expect(pieces(port).join('')).toBe(text)
  expect(pieces(port).every(piece => piece.isWellFormed() && [...piece].length <= 9)).toBe(true)
  expect(port.ends).toEqual([{ kind: 'completed' }])
})

test('F Q5 steers are taken between deltas and once at the end, acknowledged, and appended to the reply', async () => {
  const { clock, port, handle } = play('123456789abcdefghi')
  await clock.advance(10)
  port.steer('first')
  await clock.advance(45)
  expect(port.commands('ack').length).toBe(1)
  port.steer('second')
  await clock.advance(10_000)
  await handle.done
  expect(port.textOf('assistant')).toBe('123456789abcdefghi\n\nsteered: first\n\nsteered: second')
  expect([port.inFlight, port.queued]).toEqual([[], []])
})

test('F a steer that comes with the last delta is still taken', async () => {
  const { clock, port, handle } = play('one')
  await clock.advance(44)
  port.steer('late')
  await clock.advance(10_000)
  await handle.done
  expect(port.textOf('assistant')).toBe('one\n\nsteered: late')
})

test('F /ask asks 3 questions of 2 options and replies with the answers', async () => {
  const { port, handle } = play('/ask')
  await settle()
  const [pending] = port.pending
  const { request } = pending ?? {}
  expect(request?.kind === 'question' && request.questions.map(question => question.options.length)).toEqual([2, 2, 2])
  port.answer({
    kind: 'question',
    answers: [{ labels: ['red'] }, { labels: ['large'] }, { labels: [], text: 'elsewhere' }],
  })
  await handle.done
  expect(port.textOf('assistant')).toBe('red / large / elsewhere')
})

test.each([
  ['allow-once', 'completed', 'permission: allow_once'],
  ['reject-once', 'failed', 'permission: reject_once'],
] as const)(
  'F I7 /permission with %s ends its tool call as %s and reports the decision',
  async (optionId, status, text) => {
    const { port, handle } = play('/permission')
    await settle()
    expect(port.pending[0]?.request).toMatchObject({
      kind: 'permission',
      toolCallId: 'scripted-edit',
      toolKind: 'edit',
    })
    port.answer({ kind: 'permission', optionId })
    await handle.done
    expect([port.commands('tool_end')[0]?.status, port.textOf('assistant')]).toEqual([status, text])
  },
)

test('F /wait-steering waits for a steer, then replies like any text', async () => {
  const { clock, port, handle } = play('/wait-steering')
  await clock.advance(60_000)
  expect([port.effects, port.ends]).toEqual([[], []])
  port.steer('go')
  await clock.advance(10_000)
  await handle.done
  expect(port.textOf('assistant')).toBe('/wait-steering\n\nsteered: go')
})

test('F /tool N makes one call with N bytes of output, by reference when they are many', async () => {
  const small = play('/tool 100')
  const large = play('/tool 100000')
  await Promise.all([small.handle.done, large.handle.done])
  expect(small.port.commands('tool_end')[0]?.output).toHaveLength(100)
  expect(large.port.commands('tool_end')[0]?.output).toMatchObject({ bytes: 100_000 })
  expect([...large.artifacts.stored.values()].map(stored => stored.bytes.byteLength)).toEqual([100_000])
})

test('F /stream N streams N bytes without waiting for the clock', async () => {
  const { port, handle } = play('/stream 10000')
  await handle.done
  expect([port.textOf('assistant').length, pieces(port).length]).toEqual([10_000, 3])
})

test('F T9 /hold runs until stopped and echoes steering meanwhile', async () => {
  const { clock, port, handle } = play('/hold')
  port.steer('one')
  await clock.advance(100_000)
  expect([port.textOf('assistant'), port.ends, port.inFlight]).toEqual(['\n\nsteered: one', [], []])
  await handle.stop('user_stop', 5_000)
  expect(port.ends).toEqual([{ kind: 'cancelled', abortSource: 'user_stop' }])
})

test('F T11 /error CLASS fails with that class after 250 ms', async () => {
  const { clock, port, handle } = play('/error rate_limit')
  await clock.advance(249)
  expect(port.ends).toEqual([])
  await clock.advance(1)
  await handle.done
  expect(port.ends).toMatchObject([{ kind: 'failed', failureClass: 'rate_limit' }])
})

test('F T11 /crash fails as if its process had exited', async () => {
  const { port, handle } = play('/crash')
  await handle.done
  expect(port.ends).toMatchObject([{ kind: 'failed', failureClass: 'backend_exited' }])
})

test.each(['/tool', '/tool ', '/tool x', '/tool 1 2', '/stream', '/error', '/ask now', ' /ask', '/holding', '/plan'])(
  'F %j is no command and comes back as any text',
  async text => {
    const { clock, port, handle } = play(text)
    await clock.advance(10_000)
    await handle.done
    expect([port.textOf('assistant'), port.ends]).toEqual([text, [{ kind: 'completed' }]])
  },
)
