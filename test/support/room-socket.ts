import * as Y from 'yjs'
import type { DocumentMembership, DocumentSubscriber } from '../../leader/transport/host-port.ts'
import { newDocument } from '../../schema/projection/layout.ts'
import { type LeaderAwareness, readLeaderSyncMessage } from '../../schema/wire/sync.ts'

/** A socket in a room with the replica behind it: keeps what it was sent and applies it. */
export class RoomSocket implements DocumentSubscriber {
  readonly connectionId: string
  readonly surface = 'tui'
  readonly clientInstanceId: string
  readonly doc: Y.Doc
  /** Kinds of the messages in order, `close <code>` for a close. */
  readonly seen: string[] = []
  readonly messages: Uint8Array[] = []
  readonly awareness: LeaderAwareness[] = []
  /** Called for every document message, after it was applied. */
  onDocument: ((kind: 'sync_step_2' | 'update') => void) | undefined
  membership: DocumentMembership | undefined
  closed: { readonly code: number; readonly reason: string } | undefined

  constructor(connectionId: string, doc: Y.Doc = newDocument()) {
    this.connectionId = connectionId
    this.clientInstanceId = `client-${connectionId}`
    this.doc = doc
  }

  send(bytes: Uint8Array): void {
    if (this.closed !== undefined) throw new Error('sent after the close')
    this.messages.push(bytes)
    const message = readLeaderSyncMessage(bytes)
    this.seen.push(message.kind)
    if (message.kind === 'awareness') {
      if (message.state !== null) this.awareness.push(message.state)
    } else if (message.kind !== 'malformed') {
      Y.applyUpdate(this.doc, message.update)
      this.onDocument?.(message.kind)
    }
  }

  close(code: number, reason: string): void {
    this.closed = { code, reason }
    this.seen.push(`close ${code}`)
    this.membership?.leave()
  }

  /** Asks for what it lacks. */
  ask(): void {
    this.membership?.syncStep1(Y.encodeStateVector(this.doc))
  }

  /** What was seen since the last look. */
  look(): string[] {
    return this.seen.splice(0)
  }
}
