import { expect } from 'vitest'
import * as Y from 'yjs'
import { encodeSyncStep1, readLeaderSyncMessage, SUBPROTOCOL } from '../../../schema/wire/sync.ts'
import { waitFor } from '../wait-for.ts'
import { ask, dial, openCommands, type TestSocket } from './clients.ts'
import type { TestLeader } from './test-leader.ts'

/** A client that behaves, with a command connection and a document: abuse by others must not reach it. */
export interface Bystander {
  readonly commands: TestSocket
  readonly doc: Y.Doc
  /** Checks that a command is answered and that a new update arrives. */
  expectUnharmed(): Promise<void>
}

/** Attaches one to the session `quiet`. */
export async function openBystander(leader: TestLeader): Promise<Bystander> {
  const room = leader.host.room('quiet')
  const commands = await openCommands(leader)
  const { socket, doc } = await follow(leader, 'quiet')
  let count = 0
  return {
    commands,
    doc,
    expectUnharmed: async () => {
      expect(await ask(commands, 'host.status')).toMatchObject({ ok: true })
      count += 1
      room.doc.getMap('bystander').set('count', count)
      await waitFor(() => doc.getMap('bystander').get('count') === count, { what: 'the update at the bystander' })
      expect([commands.ws.readyState, socket.ws.readyState]).toEqual([1, 1])
    },
  }
}

/** Opens a document on the socket and applies what arrives; synced when it resolves. */
export async function follow(leader: TestLeader, sessionId: string): Promise<{ socket: TestSocket; doc: Y.Doc }> {
  const socket = await dial(leader, 'socket', `/v1/sync/session/${sessionId}`, { protocols: [SUBPROTOCOL] })
  const doc = new Y.Doc()
  let isSynced = false
  socket.ws.on('message', (bytes: Buffer) => {
    const message = readLeaderSyncMessage(bytes)
    if (message.kind !== 'sync_step_2' && message.kind !== 'update') return
    Y.applyUpdate(doc, message.update)
    isSynced ||= message.kind === 'sync_step_2'
  })
  socket.ws.send(encodeSyncStep1(Y.encodeStateVector(doc)))
  await waitFor(() => isSynced, { what: 'sync step 2', everyMs: 2 })
  return { socket, doc }
}
