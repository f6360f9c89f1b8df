import { expect, test } from 'vitest'
import { LIMITS } from '../../../schema/limits.ts'
import { talked } from '../../support/react/screen-store.ts'
import { startTestLeader } from '../../support/start-test-leader.ts'
import { runLinear } from '../../support/tui/linear-run.ts'

/** Anything but lines of text would draw, or take back what was said. */
const DRAWN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2500-\u257f\u2800-\u28ff]/

/** A question right behind its line is not answered by accident; tests are faster than people. */
const grace = () => new Promise(resolve => setTimeout(resolve, LIMITS.linearAnswerGraceMs + 50))

test('experience 7.3 linear: the sessions have numbers, one is opened, what was said in it is told, and a message goes to it', async () => {
  const leader = await startTestLeader()
  await leader.ok('session.create', { sessionId: 'one', cwd: '/', backend: 'scripted', title: 'First' })
  await leader.startTurn('one', 'turn-1', 'first words')
  await leader.ended('one', 'turn-1')
  const linear = runLinear(leader.root)
  await linear.hears('Type a number to open one')
  expect(linear.fresh()).toEqual([
    'Headwater 1.2.3, linear mode. /help says what can be typed.',
    'Looking for the leader.',
    'The sessions are not known yet; they are listed as soon as they are.',
    'Connected, live.',
    '1 session:',
    '1. First, idle, active now',
    'Type a number to open one, or /new.',
  ])
  linear.type('7')
  await linear.hears('Type the number of a session')
  linear.type('1')
  await linear.hears('Assistant: first words')
  expect(linear.fresh().slice(1)).toEqual([
    'Session: First.',
    expect.stringMatching(/^Turn started: the page · \d{4}-\d\d-\d\d \d\d:\d\d$/),
    'Message: first words',
    'Assistant: first words',
  ])
  linear.type('more of it')
  await linear.hears('Turn completed.')
  const said = linear.fresh()
  expect(said.filter(line => line !== 'Sent.')).toEqual([
    expect.stringMatching(/^Turn started: a terminal · /),
    'Message: more of it',
    'Assistant: more of it',
    'Turn completed.',
  ])
  linear.type('/leave')
  const { exitCode, farewell } = await linear.ended
  expect({ exitCode, farewell }).toEqual({
    exitCode: 0,
    farewell: ['First: the last turn completed', 'To come back: headwater tui -s one'],
  })
  expect(linear.said()).not.toMatch(DRAWN)
})

test('experience 7.3 linear: questions have numbered options, one line answers one, and what does not fit is said', async () => {
  const leader = await startTestLeader()
  await leader.create('one')
  const linear = runLinear(leader.root, { sessionId: 'one' })
  await linear.hears('Connected, live.')
  await linear.hears('Session: ')
  linear.fresh()
  linear.type('//ask')
  await linear.hears('Question 1 of 3')
  linear.type('1')
  await linear.hears('A question came in just now')
  const asked = linear.fresh()
  expect(asked).toContain('The turn waits for an answer.')
  expect(asked.filter(line => /^(Question|\d\. )/.test(line))).toHaveLength(3)
  await grace()
  linear.type('9')
  await linear.hears('There are options 1 to 2.')
  linear.type('1')
  await linear.hears('Question 2 of 3')
  linear.type('0')
  await linear.hears('Question 3 of 3')
  linear.type('/again')
  linear.type('2')
  await linear.hears('Turn completed.')
  const answered = linear.fresh()
  expect(answered.filter(line => line.startsWith('Question 3 of 3'))).toHaveLength(2)
  expect(answered.filter(line => line.startsWith('answered by '))).toEqual([
    expect.stringMatching(/^answered by a terminal: .+ \/ – \/ .+$/),
  ])
  linear.type('//permission')
  await linear.hears('Permission wanted:')
  await grace()
  linear.type('/deny')
  await linear.hears('Turn completed.')
  expect(linear.said()).not.toMatch(DRAWN)
})

test('experience 7.3 linear: while a turn runs messages wait, are taken back and steer; /stop stops it by its id', async () => {
  const leader = await startTestLeader()
  await leader.create('one')
  const linear = runLinear(leader.root, { sessionId: 'one' })
  await linear.hears('Connected, live.')
  linear.type('//hold')
  await linear.hears('Message: /hold')
  linear.type('for later')
  await linear.hears('It waits for the next turn.')
  await linear.hears('1 message waits. /waiting lists them.')
  linear.type('/waiting')
  await linear.hears('1. message for a later turn, waits, from a terminal: for later')
  linear.type('/back 1')
  await linear.hears('Taken back: for later')
  await linear.hears('No message waits any more.')
  linear.type('/back 4')
  await linear.hears('There is no such message')
  linear.type('/steer look here')
  await linear.hears('Steering message')
  linear.type('/long')
  linear.type('two')
  linear.type('/stop lines')
  linear.type('.')
  await linear.hears('It waits for the next turn.')
  linear.type('/stop')
  await linear.hears('Turn stopped: somebody stopped it')
  linear.type('/waiting')
  await linear.hears('parked, from a terminal: two /stop lines')
  linear.type('/inspect')
  await linear.hears(/Turns, 1: least [\d.:]+ ?\w*, most/)
  expect(linear.fresh()).toContainEqual(
    expect.stringMatching(/revision \d+, the run: .*run stopped: somebody stopped it; .*turn took /),
  )
  expect(linear.said()).not.toMatch(DRAWN)
})

test('experience 6.4 linear: only a plan that was read out is approved, and what becomes of it is said', async () => {
  const leader = await startTestLeader()
  await leader.ok('session.create', { sessionId: 'one', cwd: '/', backend: 'scripted', collaborationMode: 'plan' })
  const linear = runLinear(leader.root, { sessionId: 'one' })
  await linear.hears('Connected, live.')
  linear.type('//plan')
  await linear.hears('A plan waits for approval: Scripted plan, revision 1.')
  await linear.hears('Turn completed.')
  linear.type('/approve')
  await linear.hears('Revision 1 was not read out yet')
  linear.type('/plan')
  await linear.hears('/approve approves it')
  linear.type('/approve')
  await linear.hears('Approved; it is carried out.')
  linear.fresh()
  await linear.hears('Turn completed.')
  linear.type('/plan')
  await linear.hears('Plan Scripted plan: carried out.')
  linear.type('/tasks')
  await linear.hears('There are no tasks.')
  expect(linear.fresh().filter(line => /^\d\. /.test(line))).toEqual(
    [1, 2, 3].map(n => expect.stringContaining(`${n}. completed: `)),
  )
})

test('experience 5.2 linear: a lost leader is said once, what was seen stays, nothing is sent meanwhile, and coming back is said', async () => {
  const leader = await startTestLeader()
  await talked(leader, 'one')
  const linear = runLinear(leader.root, { sessionId: 'one' })
  await linear.hears('Assistant: hello')
  linear.fresh()
  await leader.close()
  await linear.hears('Connection lost')
  linear.type('unheard')
  await linear.hears('Not done: ')
  linear.type('/inspect')
  await linear.hears('The ledger is only with the leader.')
  expect(linear.fresh().filter(line => line.includes('Connection lost'))).toEqual([
    expect.stringMatching(/^Connection lost; this is what was seen, as of \d\d:\d\d\. /),
  ])
  await leader.start()
  linear.type('/retry')
  await linear.hears('Live again.')
  expect(linear.fresh().filter(line => !line.startsWith('Looking'))).toEqual(['Live again.'])
})

test('experience 7.3 linear: a new session is made by its first message, what waits elsewhere is said and reached by number', async () => {
  const leader = await startTestLeader()
  const linear = runLinear(leader.root)
  await linear.hears('No sessions yet.')
  linear.type('/stop')
  await linear.hears('No session is open')
  linear.type('/new')
  await linear.hears('New session.')
  linear.type('Begin')
  await linear.hears('the built-in scripted backend echoes')
  await linear.hears('Assistant: Begin')
  await leader.create('other')
  await leader.startTurn('other', 'turn-1', '/ask')
  await linear.hears('/ask waits for an answer. /pending goes there.')
  linear.type('/pending')
  await linear.hears('Type a number to go there')
  linear.type('1')
  await linear.hears('Question 1 of 3')
  linear.type('/sessions')
  await linear.hears('2 sessions:')
  linear.type('/sesions')
  await linear.hears('There is no /sesions. Did you mean /sessions? To send it as a message, begin with two slashes.')
  linear.fresh()
  linear.type('/help')
  await linear.hears('/leave: leave; what runs keeps running')
  const words = linear
    .fresh()
    .filter(line => /^\/\w+/.test(line))
    .map(line => line.split(/[ :]/)[0])
  expect(words).toEqual(['/sessions', '/new', '/pending', '/retry', '/help', '/leave'])
})

test('Z6 linear: whatever a session holds, only lines of text are written', async () => {
  const leader = await startTestLeader()
  const evil = 'a\u001b]0;x\u0007b\u009b2Jc\u202ed\re\u001b[1A\u2028f'
  await talked(leader, 'one', evil)
  await leader
    .ok('session.update', { sessionId: 'one', patch: { title: 'T\u001b[2J' }, expectedRevision: 2 } as never)
    .catch(() => {})
  const linear = runLinear(leader.root)
  await linear.hears('Type a number')
  linear.type('1')
  await linear.hears('Assistant: ')
  expect(linear.said()).not.toMatch(DRAWN)
  expect(linear.said()).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/)
})
