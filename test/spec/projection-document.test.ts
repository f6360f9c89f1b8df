import { expect, test } from 'vitest'
import * as Y from 'yjs'
import type { SessionState } from '../../leader/domain/state.ts'
import type { StoredDocument } from '../../leader/log/store.ts'
import { DocumentWriter } from '../../leader/projection/document/writer.ts'
import { type DocumentUpdate, SessionDocument } from '../../leader/projection/session-document.ts'
import { HeadwaterError } from '../../schema/errors.ts'
import { LIMITS } from '../../schema/limits.ts'
import { newDocument, section } from '../../schema/projection/layout.ts'
import { createdState, rootTurn } from '../support/session-walk.ts'

function structs(doc: Y.Doc): number {
  let count = 0
  for (const list of doc.store.clients.values()) count += list.length
  return count
}

/** A document with one session and `count` further transitions of its activity, and the log that made it. */
function busyDocument(count: number): { document: SessionDocument; state: SessionState; log: DocumentUpdate[] } {
  const document = SessionDocument.create('generation-1')
  let state = createdState()
  const log = [document.apply(null, state)]
  for (let i = 0; i < count; i++) {
    const header = state.header && { ...state.header, lastActivityAt: state.at + 1 }
    const next = { ...state, revision: state.revision + 1, at: state.at + 1, header }
    log.push(document.apply(state, next))
    state = next
  }
  return { document, state, log }
}

/** The damage a stored document is refused for. */
function damageOf(stored: StoredDocument): unknown {
  try {
    SessionDocument.load(stored)
    return 'none'
  } catch (error) {
    if (!(error instanceof HeadwaterError)) throw error
    return { code: error.code, ...error.detail }
  }
}

test('A7 20 000 transitions leave a handful of structs and a reconnect of a few bytes', () => {
  const { document } = busyDocument(20_000)
  expect(structs(document.doc)).toBeLessThanOrEqual(8)
  expect(document.encode().length).toBeLessThan(1_000)
  expect(document.encode(Y.encodeStateVector(document.doc)).length).toBeLessThan(64)
  expect(document.stats().garbageBytes).toBeLessThan(256)
})

test('A7 a thousand turns leave nothing dead in the root section', () => {
  const document = SessionDocument.create('generation-1')
  let state = createdState()
  document.apply(null, state)
  const step = (patch: Partial<SessionState>): void => {
    const next = { ...state, ...patch, revision: state.revision + 1 }
    document.apply(state, next)
    state = next
  }
  for (let i = 0; i < 1_000; i++) {
    const root = rootTurn(`${i}`, state.revision + 1, 'x')
    step({ root, agentSession: { backend: 'acp', agentSessionId: `agent-${i}`, process: null, processEpoch: i } })
    step({ root: { ...root, snapshot: { ...root.snapshot, status: 'running' } } })
  }
  expect(structs(document.doc)).toBeLessThanOrEqual(12)
})

test('L4 20 000 text flushes into sealed blocks leave no garbage that grows with the text', () => {
  const document = SessionDocument.create('generation-1')
  let state = createdState()
  document.apply(null, state)
  for (let block = 0; block < 20; block++) {
    const blockId = `block-${block}`
    const open = {
      blockId,
      kind: 'assistant',
      messageId: 'm',
      offset: 0,
      turnId: 't',
      runId: 'r',
      startedAt: 1,
    } as const
    document.flush([{ open, text: '' }], 1)
    for (let i = 0; i < 1_000; i++) document.flush([{ blockId, append: '0123456789' }], i)
    const next = { ...state, revision: state.revision + 1 }
    document.apply(state, next, { close: [blockId] })
    state = next
  }
  expect(document.encode().length).toBeLessThan(3_000)
  expect(structs(document.doc)).toBeLessThan(100)
})

test('A3 each section is written under a writer id of its own', () => {
  const document = SessionDocument.create('generation-1')
  const state = createdState()
  document.apply(null, state)
  const entry = { seq: 1, id: 'n', turnId: 't', at: 1, kind: 'notice', text: 'x' } as const
  const next = { ...state, revision: 2, transcript: [{ entry, bytes: 1 }], nextSeq: 2, queueRevision: 1 }
  document.apply(state, next)
  const open = {
    blockId: 'b',
    kind: 'assistant',
    messageId: 'm',
    offset: 0,
    turnId: 't',
    runId: 'r',
    startedAt: 1,
  } as const
  document.flush([{ open, text: 'x' }], 1)
  const writers = new Map<number, Set<unknown>>()
  for (const [client, list] of document.doc.store.clients) {
    const sections = new Set<unknown>()
    for (const struct of list) {
      let type = struct instanceof Y.Item ? struct.parent : null
      while (type instanceof Y.AbstractType && type._item !== null) type = type._item.parent
      for (const [name, shared] of document.doc.share) if (shared === type) sections.add(name)
    }
    writers.set(client, sections)
  }
  expect([...writers.values()].map(sections => [...sections]).sort()).toEqual(
    [['activity'], ['counters'], ['head'], ['origin'], ['session'], ['text'], ['transcript']].sort(),
  )
})

test('E7 writer ids are fresh after a load and never ones that the document has, however the dice fall', () => {
  const { document, state } = busyDocument(3)
  const known = [...document.doc.store.clients.keys()]
  const ids = [...known, 7, 7, ...known, 8]
  const doc = newDocument()
  Y.applyUpdate(doc, document.encode())
  const writer = new DocumentWriter(doc, () => ids.shift() ?? 99)
  const map = section(doc, 'queue')
  const set = { kind: 'set', map, key: 'k', value: 1 } as const
  const updates = [writer.commit([{ ...set, writer: 'a' }]), writer.commit([{ ...set, writer: 'b' }])]
  expect(updates.map(update => Y.decodeUpdate(update).structs.map(struct => struct.id.client))).toEqual([[7], [8]])
  expect(state.revision).toBe(4)
})

test('A3 a change that would make no update, or a second one, is a broken invariant', () => {
  const doc = newDocument()
  const map = section(doc, 'queue')
  const writer = new DocumentWriter(doc)
  expect(() => writer.commit([{ kind: 'delete', writer: 'a', map, key: 'none' }])).toThrow('exactly one update')
  map.observe(() => section(doc, 'plan').set('other', 1))
  expect(() => writer.commit([{ kind: 'set', writer: 'a', map, key: 'k', value: 1 }])).toThrow('exactly one update')
})

test('D1 a document loads from its whole log, and from a snapshot with the updates after it', () => {
  const { document, state, log } = busyDocument(20)
  const through = 9
  const part = SessionDocument.load({ snapshot: null, updates: log.slice(0, through) })
  const snapshot = { through, generation: 'generation-1', bytes: part.encode() }
  for (const stored of [
    { snapshot: null, updates: log },
    { snapshot, updates: log.slice(through) },
  ]) {
    const loaded = SessionDocument.load(stored)
    expect(loaded.readState()).toEqual(document.readState())
    expect([loaded.number, loaded.generation]).toEqual([21, 'generation-1'])
    expect(loaded.apply(state, { ...state, revision: state.revision + 1 }).number).toBe(22)
  }
})

test('D1 a gap, torn bytes, a missing beginning and a foreign snapshot are damage, never an emptier document', () => {
  const { log } = busyDocument(10)
  const snapshot = {
    through: 11,
    generation: 'generation-1',
    bytes: SessionDocument.load({ snapshot: null, updates: log }).encode(),
  }
  const damaged = { code: 'session_damaged' }
  expect(damageOf({ snapshot: null, updates: [] })).toEqual({ ...damaged, kind: 'missing', number: 0 })
  const gap = log.filter(update => update.number !== 5)
  expect(damageOf({ snapshot: null, updates: gap })).toEqual({ ...damaged, kind: 'gap', number: 5 })
  expect(damageOf({ snapshot: null, updates: log.slice(1) })).toEqual({ ...damaged, kind: 'gap', number: 1 })
  const torn = log.map(update => (update.number === 7 ? { ...update, bytes: update.bytes.slice(0, -9) } : update))
  expect(damageOf({ snapshot: null, updates: torn })).toEqual({ ...damaged, kind: 'bytes', number: 7 })
  const other = { ...snapshot, generation: 'generation-2' }
  expect(damageOf({ snapshot: other, updates: [] })).toEqual({ ...damaged, kind: 'generation', number: 11 })
  const bytes = Y.encodeStateAsUpdate(newDocument())
  expect(damageOf({ snapshot: { ...snapshot, bytes }, updates: [] })).toEqual({
    ...damaged,
    kind: 'missing',
    number: 11,
  })
})

test('D1 an update whose predecessor was lost behind its back is damage, not something to wait for', () => {
  const { log } = busyDocument(10)
  // The numbers are whole but one update's bytes are those of an earlier one: its own structs are missing for the next.
  const lost = log.map((update, i) => (i === 5 ? { ...update, bytes: log[4]?.bytes as Uint8Array } : update))
  expect(damageOf({ snapshot: null, updates: lost })).toEqual({ code: 'session_damaged', kind: 'head', number: 6 })
  const renumbered = log.filter((_, i) => i !== 5).map((update, i) => ({ ...update, number: i + 1 }))
  expect(damageOf({ snapshot: null, updates: renumbered })).toEqual({
    code: 'session_damaged',
    kind: 'pending',
    number: 6,
  })
})

test('V6 a state vector that names an unknown writer or a higher clock is ahead; others and garbage are not', () => {
  const { document, state, log } = busyDocument(5)
  const old = newDocument()
  for (const update of log.slice(0, 3)) Y.applyUpdate(old, update.bytes)
  expect(document.isAhead(Y.encodeStateVector(old))).toBe(false)
  expect(document.isAhead(Y.encodeStateVector(document.doc))).toBe(false)
  expect(document.isAhead(Uint8Array.of(0))).toBe(false)
  const further = SessionDocument.load({ snapshot: null, updates: log })
  further.apply(state, { ...state, revision: state.revision + 1 })
  expect(document.isAhead(Y.encodeStateVector(further.doc))).toBe(true)
  const vector = Y.decodeStateVector(Y.encodeStateVector(document.doc))
  const [writer, clock] = [...vector][0] as [number, number]
  expect(document.isAhead(Y.encodeStateVector(new Map([[writer, clock + 1]])))).toBe(true)
  expect(document.isAhead(Y.encodeStateVector(new Map([[writer, clock - 1]])))).toBe(false)
})

test('A4 a state vector that is no state vector is malformed and never throws', () => {
  const { document } = busyDocument(5)
  const whole = Y.encodeStateVector(document.doc)
  const endless = new Uint8Array(32).fill(0xff)
  const countOnly = Uint8Array.of(0xff, 0xff, 0xff, 0x7f)
  for (const bytes of [new Uint8Array(0), whole.slice(0, -1), Uint8Array.of(...whole, 0), endless, countOnly]) {
    expect(document.isAhead(bytes)).toBe('malformed')
  }
})

test('V6 a copy of an old build is ahead of the document that was built anew', () => {
  const { document, state } = busyDocument(5)
  const rebuilt = document.rebuild(state, 'generation-2')
  expect(rebuilt.isAhead(Y.encodeStateVector(document.doc))).toBe(true)
  expect(rebuilt.generation).toBe('generation-2')
})

/** A document that had `count` queue entries, of which the last is left. */
function queueDocument(count: number): { document: SessionDocument; state: SessionState } {
  const document = SessionDocument.create('generation-1')
  let state = createdState()
  document.apply(null, state)
  for (let i = 1; i <= count; i++) {
    const keys = { entryId: `entry-${i}`, messageId: `message-${i}`, content: { text: 'x' }, revision: 1 }
    const submittedBy = { surface: 'tui', clientInstanceId: 'c' }
    const entry = { ...keys, placement: 'next_turn', state: 'queued', submittedBy } as const
    const next = { ...state, revision: state.revision + 1, queue: [{ entry, order: i }], queueRevision: i }
    document.apply(state, next)
    state = next
  }
  return { document, state }
}

test('V7 a document is due to be built anew when nobody is attached and more than half of it is garbage', () => {
  const { document, state } = queueDocument(200)
  expect(document.isRebuildDue(false)).toBe(true)
  expect(document.isRebuildDue(true)).toBe(false)
  const { encodedBytes, liveBytes, garbageBytes, writerIds } = document.stats()
  expect(garbageBytes).toBe(encodedBytes - liveBytes)
  expect(garbageBytes).toBeGreaterThan(liveBytes)
  expect(writerIds).toBe(document.doc.store.clients.size)
  const rebuilt = document.rebuild(state, 'generation-2')
  expect(rebuilt.isRebuildDue(false)).toBe(false)
  expect(rebuilt.encode().length).toBeLessThan(liveBytes + 64)
  expect(rebuilt.readState()?.queue).toEqual(document.readState()?.queue)
})

test('V7 a document is due to be built anew at 1 MiB of garbage although somebody is attached, and not before', () => {
  const { document } = queueDocument(1)
  let state = queueStateOf(document)
  let measured = 0
  while (!document.isRebuildDue(true)) {
    for (let i = 0; i < 500; i++) state = replaceEntry(document, state)
    measured += 1
    expect(measured).toBeLessThan(200)
  }
  const { garbageBytes } = document.stats()
  expect(garbageBytes).toBeGreaterThan(LIMITS.documentGarbageBytes)
  expect(garbageBytes).toBeLessThan(LIMITS.documentGarbageBytes * 1.2)
})

function queueStateOf(document: SessionDocument): SessionState {
  const shown = document.readState()
  return { ...createdState(), revision: shown?.head.revision ?? 0, queue: shown?.queue ?? [], queueRevision: 1 }
}

function replaceEntry(document: SessionDocument, state: SessionState): SessionState {
  const revision = state.revision + 1
  const queue = state.queue.map(r => ({ ...r, entry: { ...r.entry, entryId: `entry-${revision}-${'x'.repeat(80)}` } }))
  const next = { ...state, revision, queue }
  document.apply(state, next)
  return next
}

test('V7 a document is due to be built anew at 256 writer ids', () => {
  let { document, state } = queueDocument(2)
  while (document.doc.store.clients.size < LIMITS.documentWriterIds) {
    expect(document.isRebuildDue(true)).toBe(false)
    const snapshot = { through: document.number, generation: 'generation-1', bytes: document.encode() }
    document = SessionDocument.load({ snapshot, updates: [] })
    state = replaceEntry(document, { ...state, queueRevision: state.queueRevision })
  }
  expect(document.isRebuildDue(true)).toBe(true)
  expect(document.rebuild(state, 'generation-2').isRebuildDue(true)).toBe(false)
})
