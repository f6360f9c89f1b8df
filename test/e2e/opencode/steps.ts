import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Conversation } from './conversation.ts'
import type { ModelRequest, ModelStep } from './model-server.ts'

/** The model: greets, writes the file that the prompt names, tells a long story slowly, or says what it was told before. */
export function script(cwd: string): (request: ModelRequest) => ModelStep {
  return ({ lastUser, afterTool, earlierUsers }) => {
    const name = /write (\S+\.txt)/.exec(lastUser)?.[1]
    if (afterTool) return { kind: 'say', pieces: ['That ', 'is ', 'done.'] }
    if (name !== undefined) {
      return { kind: 'call', tool: 'write', arguments: { filePath: join(cwd, name), content: `this is ${name}\n` } }
    }
    if (lastUser.includes('story')) {
      const pieces = Array.from({ length: 2_000 }, (_, i) => `sentence ${i}. `)
      return { kind: 'say', pieces, pieceIntervalMs: 50 }
    }
    if (lastUser.includes('remember')) return { kind: 'say', pieces: [`You said: ${earlierUsers[0] ?? 'nothing'}.`] }
    return { kind: 'say', pieces: ['Hello ', 'from ', 'the ', 'scripted ', 'model.'], pieceIntervalMs: 30 }
  }
}

/** What is done with the agent, in order; each step rejects where something is not as it must be. */
export const STEPS: readonly (readonly [string, (chat: Conversation, cwd: string) => Promise<void>])[] = [
  [
    'a prompt streams and completes',
    async chat => {
      const turn = await chat.start('greet me')
      assert.equal(await turn.waitForText('scripted model.'), 'Hello from the scripted model.')
      assert.deepEqual(await turn.ended(), { status: 'completed' })
    },
  ],
  [
    'the agent asks before it edits a file; allowed, the file is there',
    async (chat, cwd) => {
      const turn = await chat.start('please write allowed.txt')
      const asked = await turn.waitForPermission()
      assert.deepEqual([asked.toolKind, asked.title.includes('allowed.txt')], ['edit', true])
      assert.equal(existsSync(join(cwd, 'allowed.txt')), false)
      await turn.answerPermission('allow')
      await turn.waitForText('That is done.')
      assert.deepEqual(await turn.ended(), { status: 'completed' })
      assert.equal(readFileSync(join(cwd, 'allowed.txt'), 'utf8'), 'this is allowed.txt\n')
      const tools = await turn.tools()
      assert.deepEqual([tools.length, tools[0]?.status], [1, 'completed'])
    },
  ],
  [
    'refused, the file is not there and the call has failed',
    async (chat, cwd) => {
      const turn = await chat.start('please write refused.txt')
      await turn.waitForPermission()
      await turn.answerPermission('reject')
      assert.deepEqual(await turn.ended(), { status: 'completed' })
      assert.equal(existsSync(join(cwd, 'refused.txt')), false)
      assert.equal((await turn.tools())[0]?.status, 'failed')
    },
  ],
  [
    'a stop cancels the turn; the agent stays for the next one',
    async chat => {
      const turn = await chat.start('tell a story')
      await turn.waitForText('sentence 3.')
      const before = await chat.agentProcesses()
      await turn.stop()
      assert.deepEqual(await turn.ended(), { status: 'cancelled' })
      const next = await chat.start('greet me')
      await next.waitForText('scripted model.')
      assert.deepEqual([await next.ended(), await chat.agentProcesses()], [{ status: 'completed' }, before])
    },
  ],
  [
    'a crash in the middle of a turn: the former agent is gone before the next turn, which remembers the session',
    async chat => {
      const turn = await chat.start('tell a story')
      await turn.waitForText('sentence 3.')
      const before = await chat.agentProcesses()
      await chat.kill()
      const next = await chat.start('what do you remember?')
      const text = await next.waitForText('You said: ')
      assert.deepEqual(await next.ended(), { status: 'completed' })
      assert.match(text, /You said: greet me\./)
      const after = await chat.agentProcesses()
      assert.deepEqual([before.length, after.length, before[0] === after[0]], [1, 1, false])
      assert.deepEqual(await turn.ended(), chat.killedTurn)
    },
  ],
  ['closed, everything is in order and nothing is left', chat => chat.close()],
]
