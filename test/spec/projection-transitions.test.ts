import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { initialState } from '../../leader/domain/state.ts'
import {
  documentStateOf,
  type FoldedDocumentState,
  isSameDocumentState,
  readDocumentState,
} from '../../leader/projection/document-state.ts'
import { SessionDocument } from '../../leader/projection/session-document.ts'
import { newDocument, readHead } from '../../schema/projection/layout.ts'
import { assertProperty } from '../support/property.ts'
import { createdState, SessionWalk, walkSteps } from '../support/session-walk.ts'

/** What the walk says the document must hold. */
function expected(walk: SessionWalk): unknown {
  const { revision, at } = walk.state
  const head = { revision, delta: walk.delta, at: walk.delta === 0 ? at : at + walk.delta }
  return { ...documentStateOf(walk.state), head, origin: { schema: 1, generation: walk.document.generation } }
}

function expectedBlocks(walk: SessionWalk): unknown {
  return [...walk.blocks.values()].map(({ open, text }) => ({ meta: open, text }))
}

test('A3 every transition and every flush makes exactly one update, numbered without a gap', () => {
  assertProperty(
    fc.property(walkSteps, steps => {
      const document = SessionDocument.create('generation-1')
      const seen: Uint8Array[] = []
      document.doc.on('update', update => seen.push(update))
      const walk = new SessionWalk(document)
      for (const step of steps) walk.step(step)
      expect(seen).toEqual(walk.updates.map(update => update.bytes))
      expect(walk.updates.map(update => update.number)).toEqual(seen.map((_, i) => i + 1))
      expect(document.number).toBe(seen.length)
    }),
    100,
  )
})

test('A8 after every step the document shows the state that was folded, and so does a replica that got the updates', () => {
  assertProperty(
    fc.property(walkSteps, steps => {
      const walk = new SessionWalk(SessionDocument.create('generation-1'))
      const replica = newDocument()
      Y.applyUpdate(replica, walk.updates[0]?.bytes as Uint8Array)
      for (const step of steps) {
        Y.applyUpdate(replica, walk.step(step).bytes)
        const shown = walk.document.readState() as FoldedDocumentState
        expect(shown).toEqual(expected(walk))
        expect(isSameDocumentState(shown, documentStateOf(walk.state))).toBe(true)
      }
      expect(readDocumentState(replica)).toEqual(expected(walk))
      expect(walk.document.openBlocks()).toEqual(expectedBlocks(walk))
      expect(Y.encodeStateAsUpdate(replica)).toEqual(walk.document.encode())
    }),
    150,
  )
})

test('V7 a document that is built anew holds the same content, position, number and open blocks', () => {
  assertProperty(
    fc.property(walkSteps, steps => {
      const walk = new SessionWalk(SessionDocument.create('generation-1'))
      for (const step of steps) walk.step(step)
      const before = walk.document
      walk.document = before.rebuild(walk.state, 'generation-2')
      expect(walk.document.readState()).toEqual(expected(walk))
      expect(walk.document.openBlocks()).toEqual(expectedBlocks(walk))
      expect(walk.document.number).toBe(before.number)
      expect(walk.document.encode().length).toBeLessThanOrEqual(before.encode().length + 64)
      for (const step of steps) walk.step(step)
      expect(walk.document.readState()).toEqual(expected(walk))
    }),
    100,
  )
})

test('E7 a document that is loaded from its log goes on as the one that wrote it, under writer ids that are new', () => {
  assertProperty(
    fc.property(walkSteps, walkSteps, fc.nat(), (first, second, cut) => {
      const walk = new SessionWalk(SessionDocument.create('generation-1'))
      const replica = newDocument()
      for (const step of first) walk.step(step)
      for (const update of walk.updates) Y.applyUpdate(replica, update.bytes)
      const writers = new Set(walk.document.doc.store.clients.keys())
      const through = cut % (walk.updates.length + 1)
      walk.document = SessionDocument.load({
        snapshot: through === 0 ? null : snapshotOf(walk, through),
        updates: walk.updates.slice(through),
      })
      expect(walk.document.openBlocks()).toEqual(expectedBlocks(walk))
      for (const step of second) {
        const { bytes } = walk.step(step)
        for (const writer of Y.decodeUpdate(bytes).structs.map(struct => struct.id.client)) {
          expect(writers.has(writer)).toBe(false)
        }
        Y.applyUpdate(replica, bytes)
      }
      expect(walk.document.readState()).toEqual(expected(walk))
      expect(readDocumentState(replica)).toEqual(expected(walk))
    }),
    100,
  )
})

function snapshotOf(walk: SessionWalk, through: number) {
  const doc = newDocument()
  for (const update of walk.updates.slice(0, through)) Y.applyUpdate(doc, update.bytes)
  return { through, generation: 'generation-1', bytes: Y.encodeStateAsUpdate(doc) }
}

test('A8 a document that differs from the fold in any one record is told apart', () => {
  const state = createdState()
  const document = SessionDocument.create('generation-1')
  document.apply(null, state)
  const shown = document.readState() as FoldedDocumentState
  const other = { ...state, header: state.header && { ...state.header, title: 'another' } }
  expect(isSameDocumentState(shown, documentStateOf(state))).toBe(true)
  expect(isSameDocumentState(shown, documentStateOf(other))).toBe(false)
  expect(isSameDocumentState(shown, documentStateOf({ ...state, revision: 2 }))).toBe(false)
  expect(isSameDocumentState(shown, documentStateOf({ ...state, at: 1 }))).toBe(false)
  expect(isSameDocumentState(shown, documentStateOf({ ...state, nextSeq: 2 }))).toBe(false)
})

test('A3 a transition that cannot be written throws before anything is written', () => {
  const document = SessionDocument.create('generation-1')
  const state = createdState()
  document.apply(null, state)
  const before = document.encode()
  const next = { ...state, revision: 2 }
  const header = { ...createdState().header, alwaysAllowed: [1n as unknown as string] } as typeof state.header
  expect(() => document.apply(state, { ...next, header })).toThrow(TypeError)
  const plan = new Map() as unknown as typeof state.plan
  expect(() => document.apply(state, { ...next, plan })).toThrow(TypeError)
  expect(() => document.apply(state, { ...next, revision: 3 })).toThrow('does not follow on')
  expect(() => document.apply(initialState('session-1'), next)).toThrow('does not follow on')
  expect(() => document.flush([{ blockId: 'unknown', append: 'x' }], 1)).toThrow('no open block')
  expect(document.encode()).toEqual(before)
  expect(document.number).toBe(1)
  document.apply(state, next)
  expect(readHead(document.doc)).toEqual({ revision: 2, delta: 0, at: state.at })
})

test('L4 a flush is no transition: the delta grows, the revision stays, and a transition starts it at 0 again', () => {
  const walk = new SessionWalk(SessionDocument.create('generation-1'))
  const heads = [readHead(walk.document.doc)]
  for (const kind of ['flush_open', 'flush_append', 'nothing', 'flush_append'] as const) {
    walk.step({ kind, pick: 0, text: 'word ' })
    heads.push(readHead(walk.document.doc))
  }
  expect(heads.map(head => [head?.revision, head?.delta])).toEqual([
    [1, 0],
    [1, 1],
    [1, 2],
    [2, 0],
    [2, 1],
  ])
  expect(walk.document.openBlocks().map(block => block.text)).toEqual(['word word word word '])
})

test('C3 a lone surrogate is the same replacement character in the document and at its replicas', () => {
  const document = SessionDocument.create('generation-1')
  const state = createdState()
  const replica = newDocument()
  Y.applyUpdate(replica, document.apply(null, state).bytes)
  const open = {
    blockId: 'b',
    kind: 'assistant',
    messageId: 'm',
    offset: 0,
    turnId: 't',
    runId: 'r',
    startedAt: 1,
  } as const
  Y.applyUpdate(replica, document.flush([{ open, text: 'a\ud83d' }], 1).bytes)
  Y.applyUpdate(replica, document.flush([{ blockId: 'b', append: '\ude00b' }], 2).bytes)
  const header = state.header && { ...state.header, title: 'x\ud83d' }
  Y.applyUpdate(replica, document.apply(state, { ...state, revision: 2, header }).bytes)
  expect(document.openBlocks().map(block => block.text)).toEqual(['a\ufffd\ufffdb'])
  expect((replica.getMap('text').get('b') as Y.Text).toString()).toBe('a\ufffd\ufffdb')
  expect(document.readState()?.header?.title).toBe('x\ufffd')
  expect(readDocumentState(replica)?.header?.title).toBe('x\ufffd')
})
