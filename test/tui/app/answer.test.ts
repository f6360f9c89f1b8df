import { expect, test } from 'vitest'
import { testRoot } from '../../support/live/test-root.ts'
import { openHeadwater } from '../../support/tui/headwater-terminal.ts'
import { waitFor } from '../../support/wait-for.ts'

async function withSession() {
  const root = testRoot()
  await root.start()
  const connection = await root.connect()
  const sessionId = crypto.randomUUID()
  await connection.createSession({ sessionId, cwd: '/', backend: 'scripted', title: 'Ask me' })
  const say = (text: string) => connection.startTurn({ sessionId, turnId: crypto.randomUUID(), content: { text } })
  const pending = () =>
    waitFor(async () => (await connection.request('interaction.list', {})).interactions.at(0), { what: 'a question' })
  const open = (size: { columns?: number; rows?: number } = {}) =>
    openHeadwater(root, { args: ['-s', sessionId], ...size })
  return { connection, sessionId, say, pending, open }
}

test('I4 experience 6.3 questions are answered with keys, one after the other, and looked at before they are sent', async () => {
  const { say, open } = await withSession()
  const terminal = open()
  await terminal.waitFor('● live')
  await say('/ask')
  await terminal.waitFor(/╔ question 1 of 3 · waits/)
  await terminal.idle(500)
  terminal.press('2')
  await terminal.waitFor('question 2 of 3')
  terminal.press('down', 'enter')
  await terminal.waitFor('question 3 of 3')
  terminal.press('1')
  await terminal.waitFor(/answers to 3 questions[\s\S]*blue[\s\S]*large[\s\S]*here/)
  terminal.press('enter')
  await terminal.waitFor(/blue \/ large \/ here\n[\s\S]*completed/)
  expect(terminal.screen()).not.toContain('answers to 3')
  terminal.type('on I go')
  await terminal.waitFor('> on I go')
})

test('I4 I7 experience 6.3 a permission is given with a key, and shows what it is about', async () => {
  const { say, open } = await withSession()
  const terminal = open()
  await terminal.waitFor('● live')
  await say('/permission')
  await terminal.waitFor(/╔ permission[\s\S]*Edit scripted\.txt[\s\S]*path: scripted\.txt[\s\S]*\[4\]/)
  await terminal.idle(500)
  terminal.press('3')
  await terminal.waitFor(/permission: reject_once[\s\S]*completed/)
  expect(terminal.screen()).not.toContain('╔')
})

test('I4 experience 6.3 who answered first is said on the other terminals, and their late answer does no harm', async () => {
  const { connection, sessionId, say, pending, open } = await withSession()
  const [first, second] = [open(), open()]
  await Promise.all([first, second].map(terminal => terminal.waitFor('● live')))
  await say('/permission')
  await Promise.all([first, second].map(terminal => terminal.waitFor('╔ permission')))
  await first.idle(500)
  first.press('2')
  await second.waitFor(/permission answered by a terminal, (just now|\d s ago): Always allow/)
  await second.waitFor(screen => !screen.includes('answered by a terminal, '))
  await second.waitFor(/permission: allow_always/)

  await say('/ask')
  await Promise.all([first, second].map(terminal => terminal.waitFor('╔ question 1 of 3')))
  const { interactionId } = await pending()
  const answers = ['red', 'small', 'there'].map(label => ({ labels: [label] }))
  await connection.answerInteraction({ sessionId, interactionId, answer: { kind: 'question', answers } })
  const said = /question answered by the command line, (just now|\d s ago): red \/ small \/ there/
  await Promise.all([first, second].map(terminal => terminal.waitFor(said)))
  expect(await connection.request('interaction.list', {})).toMatchObject({ interactions: [] })
})

test('experience 6.3 7.1 at 40 by 12 a card can be answered; with a draft it does not take the keys, and says how they get there', async () => {
  const { say, open } = await withSession()
  const terminal = open({ columns: 40, rows: 12 })
  await terminal.waitFor('● live')
  terminal.type('a draft')
  await terminal.waitFor('> a draft')
  await say('/permission')
  await terminal.waitFor(/┌ permission[\s\S]*tab answers/)
  terminal.type('2')
  await terminal.waitFor('> a draft2')
  terminal.press('tab')
  await terminal.waitFor(/╔ permission[\s\S]*› \[1\] Allow once/)
  terminal.press('down', 'down', 'down')
  await terminal.waitFor('› [4] Always reject')
  await terminal.idle(500)
  terminal.press('1')
  await terminal.waitFor(/permission: allow_once/)
  expect(terminal.screen()).toContain('> a draft2')
})
