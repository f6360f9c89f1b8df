import { expect, test } from 'vitest'
import { testRoot } from '../support/live/test-root.ts'
import { runCli } from '../support/run-cli.ts'

const CREATED = { cwd: '/srv', backend: 'scripted' }

test('S1 I6 experience 3.1 sessions and interactions are named by how their ids begin, and several that begin so are listed', async () => {
  const root = testRoot()
  await root.offline(async store => {
    for (const sessionId of ['alpha-one', 'alpha-two', 'alphabet', 'beta-only']) {
      await store.createSession({ sessionId, title: `the ${sessionId}`, ...CREATED })
    }
    await store.createSession({ sessionId: 'gone-away', ...CREATED })
    await store.archiveSession({ sessionId: 'gone-away' })
  })
  const cli = (...args: string[]) => runCli(['--root', root.path, ...args])
  // Without a leader, too.
  expect(await cli('export', 'beta')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('"sessionId":"beta-only"'),
  })
  const ambiguous = {
    code: 3,
    stdout: '',
    stderr: expect.stringMatching(/Several sessions begin with alpha: alpha-one, alpha-two, alphabet\./),
  }
  expect(await cli('export', 'alpha')).toMatchObject(ambiguous)
  const { kill } = await root.start()
  for (const command of [['session', 'show'], ['queue'], ['plan'], ['export']]) {
    expect(await cli(...command, 'alpha')).toMatchObject(ambiguous)
    expect((await cli(...command, 'beta-')).code).toBe(0)
    expect((await cli(...command, 'gone')).code).toBe(0)
    // Too short to be looked for.
    expect(await cli(...command, 'bet')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('There is no session bet'),
    })
  }
  expect((await cli('session', 'show', 'alphabet')).stderr).toContain('the alphabet')

  expect((await cli('run', '/ask', '-s', 'beta-only')).code).toBe(7)
  const { interactions } = JSON.parse((await cli('pending', '--json')).stdout).result
  const [{ interactionId }] = interactions
  const answered = await cli('answer', interactionId.slice(0, -3), '--choose', '1', '--choose', '1', '--choose', '1')
  expect(answered).toMatchObject({ code: 0, stderr: expect.stringContaining('answered by the command line') })
  expect(await cli('answer', 'nothing-like-it', '--deny')).toMatchObject({ code: 3 })
  await kill()
})
