import { describe, expect, test } from 'vitest'
import { background, served } from '../support/cli/served.ts'

describe('interfaces 5 from outside', () => {
  test('Q2 Q6 Q8 send, queue and interrupt on a running turn', async () => {
    const { cli, json, newSession } = await served()
    const id = await newSession()
    expect((await cli(['send', id, '/hold'])).stdout).toMatch(/^turn_started\t/)
    expect((await cli(['send', id, 'one'])).stdout).toMatch(/^followup\t/)
    await cli(['send', id, 'two'])
    await cli(['send', id, 'three'])
    const entries = async () =>
      (await cli(['queue', id])).stdout
        .trimEnd()
        .split('\n')
        .map(line => line.split('\t'))
    const [first, second, third] = await entries()
    expect([first?.[4], second?.[4], third?.[4]]).toEqual(['one', 'two', 'three'])
    await cli(['queue', id, 'edit', first?.[0] ?? '', 'uno'])
    expect((await cli(['queue', id, 'take-back', second?.[0] ?? ''])).stdout).toBe('two\n')
    await cli(['queue', id, 'move', third?.[0] ?? '', '--before', first?.[0] ?? ''])
    expect((await entries()).map(row => row[4])).toEqual(['three', 'uno'])
    expect(await json('queue', id, 'edit', second?.[0] ?? '', 'x')).toMatchObject({ error: { code: 'not_found' } })
    const interrupted = await cli(['interrupt', id])
    expect(interrupted).toMatchObject({ code: 0, stdout: 'three\n\nuno\n' })
    expect((await cli(['queue', id])).stdout).toBe('')
    expect((await cli(['interrupt', id])).stderr).toContain('nothing is running')
  })

  test('Q9 what a stop parks is shown as parked, and runs on resume', async () => {
    const { root, env, cli, newSession } = await served()
    const id = await newSession()
    const run = background(root, env, ['run', '/hold', '-s', id, '--format', 'jsonl'])
    await run.seen('turn.started')
    await cli(['send', id, 'later'])
    run.child.kill('SIGINT')
    expect(await run.ended).toBe(130)
    const listed = await cli(['queue', id])
    expect(listed.stdout.split('\t')[2]).toBe('parked')
    expect(listed.stderr).toContain('because a turn was stopped')
    await cli(['queue', id, 'resume'])
    expect((await cli(['wait', id, '--for', 'idle'])).code).toBe(0)
    expect((await cli(['session', 'show', id])).stdout).toMatch(/› later\n\nlater\n$/)
  })

  test('Q5 a steer reaches the running turn', async () => {
    const { cli, newSession } = await served()
    const id = await newSession()
    await cli(['send', id, '/wait-steering'])
    expect((await cli(['send', id, '--steer', 'left'])).stdout).toMatch(/^steering\t/)
    expect((await cli(['wait', id, '--for', 'idle'])).code).toBe(0)
    expect((await cli(['session', 'show', id])).stdout).toContain('steered: left')
  })

  test('I4 pending and answer: the first valid answer wins, the same one again is the same, another is refused', async () => {
    const { cli, json } = await served()
    const asking = await json('run', '/ask')
    expect(asking).toMatchObject({
      ok: false,
      error: { code: 'input_needed', detail: { interactions: [{ status: 'pending' }] } },
    })
    const [interaction = '', session = '', kind] = (await cli(['pending'])).stdout.trim().split('\t')
    expect({ session, kind }).toEqual({ session: asking.result.sessionId, kind: 'question' })
    const answer = (...choices: string[]) =>
      cli(['answer', interaction, ...choices.flatMap(choice => ['--choose', choice])])
    expect((await answer('9', '1', '1')).code).toBe(2)
    expect((await answer('2', '1', '2')).code).toBe(0)
    expect((await answer('2', '1', '2')).code).toBe(0)
    expect((await answer('1', '1', '1')).code).toBe(3)
    await cli(['wait', session, '--for', 'idle'])
    expect((await cli(['session', 'show', session])).stdout).toMatch(/\n\nblue \/ small \/ there\n$/)
    expect((await cli(['pending'])).stdout).toBe('')
  })

  test('I4 a permission is refused with --deny', async () => {
    const { cli, newSession } = await served()
    const id = await newSession()
    await cli(['send', id, '/permission'])
    const [interaction = ''] = (await cli(['wait', id, '--for', 'pending'])).stdout.split('\t')
    expect((await cli(['answer', interaction, '--deny'])).code).toBe(0)
    await cli(['wait', id, '--for', 'idle'])
    expect((await cli(['session', 'show', id])).stdout).toContain('permission: reject_once')
  })
})
