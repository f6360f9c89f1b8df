import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testRoot } from '../../support/live/test-root.ts'
import { openHeadwater, openHeadwaterAt } from '../../support/tui/headwater-terminal.ts'

async function withSession() {
  const root = testRoot()
  const leader = await root.start()
  const connection = await root.connect()
  const sessionId = crypto.randomUUID()
  await connection.createSession({ sessionId, cwd: '/', backend: 'scripted', title: 'Fix login' })
  const say = async (text: string) => {
    const { turnId } = (await connection.startTurn({ sessionId, turnId: crypto.randomUUID(), content: { text } })).turn
    return turnId
  }
  return { root, leader, connection, sessionId, say }
}

test('A10 V6 O2 experience 5.2 a leader that is killed is seen as lost, what was seen stays, and live comes back without a key', async () => {
  const { root, leader, sessionId, say } = await withSession()
  await say('Good morning')
  const terminal = openHeadwater(root, { args: ['-s', sessionId] })
  await terminal.waitFor(/› Good morning[\s\S]*completed/)
  terminal.type('unsent draft')
  await leader.kill()
  await terminal.waitFor('○ offline', 20_000)
  expect(terminal.screen()).toContain('› Good morning')
  terminal.press('enter')
  await terminal.waitFor('unsent draft')
  await root.start()
  await terminal.waitFor('● live', 20_000)
  expect(terminal.screen()).toContain('unsent draft')
  terminal.press('enter')
  await terminal.waitFor(/› unsent draft/)
  await terminal.waitFor(/completed/)
  expect(terminal.screen().match(/› Good morning/g)).toHaveLength(1)
})

test('O2 O3 experience 5.3 with no leader to reach, what was seen can be read, with its date; nothing is sent, and a draft is kept and offered', async () => {
  const { root, leader, sessionId, say } = await withSession()
  await say('Good morning')
  const there = { url: leader.line.url, tokenFile: join(root.path, 'headwater.token') }
  const first = openHeadwaterAt(there, { args: ['-s', sessionId] })
  await first.waitFor(/› Good morning[\s\S]*completed/)
  await first.idle(2_500)
  first.press('ctrl+d')
  await first.exited
  await leader.stop()

  const offline = openHeadwaterAt(there, { args: ['-s', sessionId] })
  await offline.waitFor(/› Good morning[\s\S]*as of \d\d:\d\d|as of \d\d:\d\d[\s\S]*› Good morning/)
  offline.type('for later')
  offline.press('enter')
  await offline.waitFor(/nothing can be sent|not connected|no connection/i)
  offline.press('ctrl+o')
  await offline.waitFor('Fix login')
  offline.press('esc')
  await offline.waitFor('for later')
  await offline.idle(600)
  offline.kill('SIGTERM')
  expect((await offline.exited).code).toBe(143)

  await root.start({ args: ['--port', String(leader.line.port)] })
  const back = openHeadwaterAt(there, { args: ['-s', sessionId] })
  await back.waitFor('● live', 20_000)
  await back.waitFor(/› Good morning[\s\S]*for later/)
  expect(back.screen().match(/for later/g)).toHaveLength(1)
})
