import * as Y from 'yjs'
import type { PlanProjection } from '../../../schema/entities/projection.ts'
import type { SessionHeader } from '../../../schema/entities/session.ts'
import {
  type BlockMeta,
  META_PREFIX,
  newDocument,
  readHead,
  SECTIONS,
  type Section,
  section,
} from '../../../schema/projection/layout.ts'

const AT = 1_764_540_000_000

/** A session's header with these differences. */
export function header(sessionId: string, differences: Partial<SessionHeader> = {}): SessionHeader {
  return {
    sessionId,
    title: 'a session',
    titleIsManual: false,
    cwd: '/tmp',
    backend: 'scripted',
    permissionMode: 'ask',
    collaborationMode: 'agent',
    status: 'idle',
    isArchived: false,
    createdAt: AT,
    lastActivityAt: AT,
    revision: 1,
    ...differences,
  }
}

/** Sets one key of a section; undefined deletes it. */
export type Put = (name: Section, key: string, value: unknown) => void

/**
 * A leader's session document: real Yjs, every section under its own writer id, one transaction and one update for each transition and
 * delta. `seed` keeps writer ids of different builds apart.
 */
export class SessionWriter {
  readonly doc: Y.Doc
  readonly sessionId: string
  readonly #seed: number
  #updates: Uint8Array[] = []

  /** With `of`, a fresh build of that writer's state under another generation; else a new session. */
  constructor(sessionId: string, generation: string, seed = 1, of?: SessionWriter) {
    this.sessionId = sessionId
    this.#seed = seed
    this.doc = newDocument()
    this.doc.on('update', update => this.#updates.push(update))
    const { status, lastActivityAt, ...rest } = header(sessionId)
    this.#write(of?.head ?? { revision: 1, delta: 0, at: AT }, put => {
      put('session', 'header', rest)
      put('activity', 'activity', { status, lastActivityAt })
      put('counters', 'counters', { queueRevision: 0, nextSeq: 1 })
      if (of !== undefined) copyState(of.doc, put)
      put('origin', 'origin', { schema: 1, generation })
    })
  }

  get head() {
    return readHead(this.doc) as { revision: number; delta: number; at: number }
  }

  /** One transition; gives its update. */
  transition(change: (put: Put) => void = () => {}): Uint8Array {
    const { revision, at } = this.head
    return this.#write({ revision: revision + 1, delta: 0, at: at + 1 }, change)
  }

  /** A transition that gives the session another title. */
  retitle(title: string): Uint8Array {
    const { status: _status, lastActivityAt: _at, ...rest } = header(this.sessionId, { title })
    return this.transition(put => put('session', 'header', rest))
  }

  /** A transition that changes the plan section. */
  plan(plan: Partial<PlanProjection>): Uint8Array {
    const none = { storeVersion: 0, latestProposal: null, activeExecution: null, lastExecution: null, agentPlan: null }
    return this.transition(put => put('plan', 'state', { ...none, ...plan }))
  }

  /** One flush of streamed text, in as many blocks as given; a block that is new is opened. */
  delta(texts: Readonly<Record<string, string>>, meta: Partial<BlockMeta> = {}): Uint8Array {
    const { revision, delta, at } = this.head
    return this.#write({ revision, delta: delta + 1, at: at + 1 }, put => {
      for (const [blockId, text] of Object.entries(texts)) {
        const known = section(this.doc, 'text').get(blockId)
        if (known instanceof Y.Text) this.#append(known, text)
        else {
          put('text', `${META_PREFIX}${blockId}`, blockMeta(blockId, meta))
          put('text', blockId, new Y.Text(text))
        }
      }
    })
  }

  /** A transition that seals a block as transcript entry `seq`. */
  seal(blockId: string, seq: number): Uint8Array {
    const text = String(section(this.doc, 'text').get(blockId))
    const { startedAt, ...meta } = section(this.doc, 'text').get(`${META_PREFIX}${blockId}`) as BlockMeta
    const { kind, messageId, offset, turnId, runId } = meta
    return this.transition(put => {
      put('text', blockId, undefined)
      put('text', `${META_PREFIX}${blockId}`, undefined)
      put('counters', 'counters', { queueRevision: 0, nextSeq: seq + 1 })
      put('transcript', String(seq), { seq, id: blockId, turnId, runId, at: startedAt, kind, messageId, offset, text })
    })
  }

  #append(text: Y.Text, more: string): void {
    this.doc.clientID = this.#writerId('text')
    text.insert(text.length, more)
  }

  #writerId(name: string): number {
    let id = this.#seed * 1_000
    for (const char of name) id += char.charCodeAt(0)
    return id
  }

  #write(head: { revision: number; delta: number; at: number }, change: (put: Put) => void): Uint8Array {
    this.#updates = []
    const put: Put = (name, key, value) => {
      this.doc.clientID = this.#writerId(name)
      if (value === undefined) section(this.doc, name).delete(key)
      else section(this.doc, name).set(key, value)
    }
    this.doc.transact(() => {
      change(put)
      put('head', 'head', head)
    })
    const [update, ...more] = this.#updates
    if (update === undefined || more.length > 0) throw new Error('one transition must make one update')
    return update
  }
}

function blockMeta(blockId: string, meta: Partial<BlockMeta>): BlockMeta {
  return {
    blockId,
    kind: 'assistant',
    messageId: `message-${blockId}`,
    offset: 0,
    turnId: 't1',
    runId: 'r1',
    startedAt: AT,
    ...meta,
  }
}

function copyState(doc: Y.Doc, put: Put): void {
  for (const name of SECTIONS) {
    for (const [key, value] of section(doc, name))
      put(name, key, value instanceof Y.Text ? new Y.Text(String(value)) : value)
  }
}
