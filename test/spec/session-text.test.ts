import fc from 'fast-check'
import { expect, test } from 'vitest'
import { TextStream } from '../../leader/session/runs/text-stream.ts'
import type { TranscriptEntry } from '../../schema/entities/transcript.ts'
import { LIMITS } from '../../schema/limits.ts'
import { utf8Bytes } from '../../schema/text.ts'
import type { PuppetRun } from '../support/session/puppet-runs.ts'
import { SessionWorld, settle } from '../support/session/session-world.ts'

const SESSION = 's-1'

async function streaming(): Promise<{ world: SessionWorld; run: PuppetRun }> {
  const world = await SessionWorld.inMemory()
  await world.create(SESSION)
  return { world, run: await world.start(SESSION, 't-1') }
}

type TextEntry = Extract<TranscriptEntry, { kind: 'assistant' | 'thinking' }>

async function texts(world: SessionWorld): Promise<readonly TextEntry[]> {
  const { entries } = await world.ok('transcript.page', { sessionId: SESSION, limit: 200 })
  return entries.filter((e): e is TextEntry => e.kind === 'assistant' || e.kind === 'thinking')
}

async function messages(world: SessionWorld): Promise<Record<string, string>> {
  const joined: Record<string, string> = {}
  for (const { messageId, offset, text } of await texts(world)) {
    expect(offset).toBe((joined[messageId] ?? '').length)
    joined[messageId] = (joined[messageId] ?? '') + text
  }
  return joined
}

test('L4 a delta is durable before it is visible, and leaves no record, no revision and no receipt', async () => {
  const { world, run } = await streaming()
  const socket = await world.join(SESSION)
  socket.look()
  const { revision } = (await world.loop(SESSION)).core.durable
  world.store.faults.hold()
  const done = run.text('hello ')
  await world.advance(66)
  expect(socket.look().filter(kind => kind !== 'awareness')).toEqual([])
  world.store.faults.release()
  await world.during(done)
  await world.during(run.text('world'))
  expect(socket.look().filter(kind => kind !== 'awareness')).toEqual(['update', 'update'])
  const { core } = await world.loop(SESSION)
  expect(core.durable.revision).toBe(revision)
  expect((await world.ledger(SESSION)).at(-1)?.revision).toBe(revision)
  const { document } = await world.onDisk(SESSION)
  expect(document.readState()?.head).toMatchObject({ revision, delta: 2 })
  expect(document.openBlocks().map(block => block.text)).toEqual(['hello world'])
})

test('L4 the deltas of all runs are flushed on one tick, at least 33 ms apart; a command at once', async () => {
  const world = await SessionWorld.inMemory()
  const runs: PuppetRun[] = []
  for (const id of ['s-1', 's-2', 's-3']) {
    await world.create(id)
    runs.push(await world.start(id, `t-${id}`))
  }
  const numbers = async (): Promise<number[]> =>
    await Promise.all(['s-1', 's-2', 's-3'].map(async id => (await world.store.head(id)).update))
  const before = await numbers()
  // The first tick is due at once; then each gets a hundred pieces between two ticks.
  for (const run of runs) void run.text('a')
  world.clock.advance(0)
  await settle()
  for (let piece = 0; piece < 100; piece++) for (const run of runs) void run.text('b')
  world.clock.advance(32)
  await settle()
  expect(await numbers()).toEqual(before.map(n => n + 1))
  world.clock.advance(1)
  await settle()
  expect(await numbers()).toEqual(before.map(n => n + 2))
  await runs[0]?.port.apply({ kind: 'notice', text: 'now' })
  // The block before the notice is sealed with it.
  expect(await numbers()).toEqual([(before[0] as number) + 3, (before[1] as number) + 2, (before[2] as number) + 2])
})

test('L4 a block is sealed at 16 KiB, between two characters; the pieces of a message follow on', async () => {
  const { world, run } = await streaming()
  const text = 'aé€😀'.repeat(6_000)
  for (let from = 0; from < text.length; from += 1_001) {
    await world.during(run.text(text.slice(from, from + 1_001)))
  }
  await run.end()
  const blocks = await texts(world)
  expect(blocks.map(block => block.text).join('')).toBe(text)
  expect(blocks.every(block => utf8Bytes(block.text) <= LIMITS.textBlockBytes)).toBe(true)
  expect(blocks.slice(0, -1).every(block => utf8Bytes(block.text) > LIMITS.textBlockBytes - 4)).toBe(true)
  expect(await messages(world)).toEqual({ m1: text })
})

test('L4 C3 whatever the pieces, their text arrives whole: halves of characters meet, lone ones become U+FFFD', async () => {
  const piece = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('\ud83d', '\ude00', '\ud83d\ude00', 'x', '', 'é€'),
    fc.nat(20_000).map(length => 'w'.repeat(length)),
  )
  const pieces = fc.array(fc.record({ text: piece, messageId: fc.constantFrom('m1', 'm2') }), { maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(pieces, async given => {
      const { world, run } = await streaming()
      const expected: { messageId: string; text: string }[] = []
      for (const { text, messageId } of given) {
        void run.text(text, messageId).catch(() => {})
        if (text === '' && expected.at(-1)?.messageId !== messageId) continue
        const last = expected.at(-1)
        if (last?.messageId === messageId) last.text += text
        else expected.push({ messageId, text })
      }
      await world.advance(99)
      await run.end()
      const shown: { messageId: string; text: string }[] = []
      for (const { messageId, text } of await texts(world)) {
        const last = shown.at(-1)
        if (last?.messageId === messageId) last.text += text
        else shown.push({ messageId, text })
      }
      const wanted = expected.map(({ messageId, text }) => ({ messageId, text: text.toWellFormed() }))
      expect(shown).toEqual(joined(wanted))
      await world.onDisk(SESSION)
    }),
    { numRuns: 60 },
  )
}, 20_000)

/** An empty piece between two of the same message opens nothing. */
function joined(all: readonly { messageId: string; text: string }[]): { messageId: string; text: string }[] {
  const out: { messageId: string; text: string }[] = []
  for (const { messageId, text } of all) {
    const last = out.at(-1)
    if (text === '') continue
    if (last?.messageId === messageId) last.text += text
    else out.push({ messageId, text })
  }
  return out
}

test('C3 L4 half a character at the end of a full block, of a message, of a run: never in the middle of the text', async () => {
  const { world, run } = await streaming()
  const full = 'f'.repeat(LIMITS.textBlockBytes - 2)
  await world.during(run.text(full))
  // Fills the block and goes on: the half stays behind the text that came before it.
  const split = run.text('1234\ud83d')
  await world.during(split)
  await world.during(run.text('\ude00!'))
  await world.during(run.text('half\ud83d', 'm2'))
  await world.during(run.text('other', 'm3'))
  void run.text('\ud83d', 'm4')
  await run.end()
  expect(await messages(world)).toEqual({ m1: `${full}1234😀!`, m2: 'half\ufffd', m3: 'other', m4: '\ufffd' })
})

test('L4 T9 text and tool calls keep the order in which the run made them, also behind a client’s look-up', async () => {
  const { world, run } = await streaming()
  const { receipt } = world.store
  let release = (): void => {}
  const waiting = new Promise<void>(resolve => {
    release = resolve
  })
  world.store.receipt = async (...key) => {
    await waiting
    return await receipt.call(world.store, ...key)
  }
  // The client's command waits for its look-up; what the run does meanwhile waits behind it.
  const update = world.call('session.update', { sessionId: SESSION, expectedRevision: 2, patch: { title: 'x' } })
  await settle()
  const call = { toolCallId: 'c-1', name: 'n', title: 't', status: 'in_progress' as const, input: null }
  void run.text('before')
  void run.port.apply({ kind: 'tool_start', ...call })
  void run.text('after', 'm2')
  const end = run.end()
  void run.text('too late', 'm3').catch(() => {})
  release()
  expect(await update).toMatchObject({ ok: true })
  await world.during(end)
  const { entries } = await world.ok('transcript.page', { sessionId: SESSION, limit: 10 })
  expect(entries.map(e => (e.kind === 'assistant' ? e.text : e.kind))).toEqual(['user', 'before', 'tool', 'after'])
})

test('L4 X1 recovery seals what the document held open, and the text is as durable as it was', async () => {
  const { world, run } = await streaming()
  await world.during(run.text('kept'))
  void run.text(' and not flushed')
  const next = await SessionWorld.after(world)
  const { entries } = await next.ok('transcript.page', { sessionId: SESSION, limit: 10 })
  expect(entries.filter(e => e.kind === 'assistant')).toMatchObject([{ text: 'kept', offset: 0, messageId: 'm1' }])
  expect((await next.onDisk(SESSION)).document.openBlocks()).toEqual([])
  expect(await next.ok('turn.query', { sessionId: SESSION, turnId: 't-1' })).toMatchObject({
    status: 'failed',
    failureClass: 'app_restarted',
  })
})

test('L4 E7 a loaded document is compared with what was believed of it: unflushed text stays only where it fits', () => {
  const flushed: string[] = []
  const stream = new TextStream({
    newId: () => `block-${flushed.length}`,
    now: () => 1,
    flush: changes => flushed.push(JSON.stringify(changes)),
    seal: () => stream.close(),
    afterPending: call => call(true),
    requestTick: () => {},
  })
  const target = { turnId: 't', runId: 'r', kind: 'assistant' as const, messageId: 'm' }
  const lost: string[] = []
  const append = (text: string): void => void stream.append(target, text).catch(() => lost.push(text))
  append('one')
  // Nothing is in the document yet, and the document has nothing: it stays.
  expect(stream.restore([])).toBe(true)
  stream.flush()
  append(' two')
  const meta = stream.open[0]?.meta
  if (meta === undefined) throw new Error('no open block')
  expect(stream.restore([{ meta, text: 'one' }])).toBe(true)
  expect(stream.open[0]?.text).toBe('one two')
  // The flush was lost.
  expect(stream.restore([])).toBe(false)
  expect(stream.open).toEqual([])
  // A seal was lost: the block is open again, and nothing of the run is lost.
  expect(stream.restore([{ meta, text: 'one' }])).toBe(true)
  append(' three')
  expect(stream.open[0]?.text).toBe('one three')
  expect(stream.isDirty).toBe(true)
})

test('L4 A7 ten minutes of streamed text in fast time: bytes written per byte of text', async () => {
  const { world, run } = await streaming()
  let written = 0
  let records = 0
  let batches = 0
  let snapshots = 0
  const { append, compact } = world.store
  world.store.compact = (session, fence, snapshot) => {
    snapshots += snapshot.bytes.length
    return compact.call(world.store, session, fence, snapshot)
  }
  world.store.append = (items, options) => {
    batches += 1
    for (const { transitions } of items) {
      for (const { record, update, receipt, rows = [] } of transitions) {
        records += record === undefined ? 0 : 1
        written += (record?.bytes.length ?? 0) + (update?.bytes.length ?? 0) + (receipt?.body.length ?? 0)
        for (const row of rows) written += row.id.length + (row.value?.length ?? 0)
      }
    }
    return append.call(world.store, items, options)
  }
  // The scripted backend's pace, every piece durable before the next one comes, and a replica that watches.
  const socket = await world.join(SESSION)
  let bytes = 0
  for (let ms = 0; ms < 10 * 60 * 1_000; ms += 45) {
    const piece = run.text('123456789')
    bytes += 9
    await new Promise(resolve => setImmediate(resolve))
    world.clock.advance(45)
    await piece
  }
  await world.advance(99)
  await run.end()
  const sent = socket.messages.reduce((sum, message) => sum + message.length, 0)
  const { document } = await world.onDisk(SESSION)
  const kept = document.encode().length
  const report = {
    text: bytes,
    writtenPerByte: Math.round((written / bytes) * 100) / 100,
    snapshotsPerByte: Math.round((snapshots / bytes) * 100) / 100,
    sentPerByte: Math.round((sent / bytes) * 100) / 100,
    documentPerByte: Math.round((kept / bytes) * 100) / 100,
    records,
    batches,
  }
  process.stdout.write(`ten minutes of text: ${JSON.stringify(report)}\n`)
  // One record for each block and the end, however many deltas there were.
  expect(records).toBe(Math.ceil(bytes / LIMITS.textBlockBytes))
  expect(await messages(world)).toEqual({ m1: '123456789'.repeat(bytes / 9) })
}, 20_000)
