import { describe, expect, test } from 'vitest'
import { background, parseLines, served } from '../support/cli/served.ts'

describe('interfaces 5 sessions', () => {
  test('S1 S2 S3 S7 new, list, rename, show, archive, unarchive', async () => {
    const { cli, json, newSession } = await served()
    const id = await newSession()
    expect(id).toMatch(/^[A-Za-z0-9_-]+$/)
    expect((await cli(['session', 'rename', id, 'A', 'title'])).code).toBe(0)
    expect(await json('session', 'list')).toMatchObject({
      ok: true,
      result: { sessions: [{ sessionId: id, title: 'A title', status: 'idle' }] },
    })
    await cli(['run', 'hello', '-s', id])
    expect((await cli(['session', 'show', id])).stdout).toBe('› hello\n\nhello\n')
    expect((await cli(['session', 'archive', id])).code).toBe(0)
    expect((await cli(['session', 'list'])).stdout).toBe('')
    expect((await cli(['session', 'list', '--archived'])).stdout).toMatch(new RegExp(`^${id}\t`))
    expect(await json('run', 'again', '-s', id)).toMatchObject({ ok: false, error: { code: 'session_archived' } })
    expect((await cli(['session', 'unarchive', id])).code).toBe(0)
    expect((await cli(['run', 'again', '-c'])).stdout).toBe('again\n')
  })

  test('W4 S1 what does not exist or does not fit is refused with 3', async () => {
    const { cli, json } = await served()
    expect(await json('session', 'show', 'nobody')).toMatchObject({ error: { code: 'not_found' } })
    expect((await cli(['session', 'show', 'nobody'])).code).toBe(3)
    expect(await json('run', 'x', '--backend', 'nothing')).toMatchObject({ error: { code: 'invalid_request' } })
    expect((await cli(['session', 'show', '../etc'])).code).toBe(3)
  })
})

describe('interfaces 5 run', () => {
  test('BL-26 every end of a run has its exit code, and 0 is only for a completed turn', async () => {
    const { cli } = await served()
    const code = async (...args: string[]) => (await cli(['run', ...args])).code
    expect(await code('fine')).toBe(0)
    expect(await code('/error network')).toBe(8)
    expect(await code('/crash')).toBe(8)
    expect(await code('/ask')).toBe(7)
    expect(await code('/permission')).toBe(7)
    expect(await code('/permission', '--on-permission', 'deny')).toBe(0)
    expect(await code('/hold', '--timeout', '1s')).toBe(124)
    expect(await code('--no-such-flag', 'x')).toBe(2)
    expect(await code('x', '-s', 'nobody')).toBe(3)
  })

  test('interfaces 5 text, json and jsonl of a streamed answer longer than the live transcript', async () => {
    const { cli, newSession } = await served()
    const id = await newSession()
    const bytes = 700_000
    const text = await cli(['run', `/stream ${bytes}`, '-s', id])
    expect({ code: text.code, length: text.stdout.length }).toEqual({ code: 0, length: bytes + 1 })
    const jsonl = await cli(['run', `/stream ${bytes}`, '-s', id, '--format', 'jsonl'])
    const lines = parseLines(jsonl.stdout)
    const result = lines.at(-1)
    expect(result).toMatchObject({ type: 'result', exitCode: 0, turn: { status: 'completed' } })
    expect(`${result?.text}\n`).toBe(text.stdout)
    const pieces = lines.filter(
      ({ type, item }) => type === 'item.completed' && (item as { kind: string }).kind === 'assistant',
    )
    expect(pieces.map(({ item }) => (item as { text: string }).text).join('')).toBe(result?.text)
    expect(lines.map(({ seq }) => seq)).toEqual([...lines.map(({ seq }) => seq)].sort((a, b) => a - b))
  })

  test('interfaces 5 Ctrl+C stops the turn it started: 130; SIGTERM: 143', async () => {
    const { root, env, json, newSession } = await served()
    for (const [signal, code] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ] as const) {
      const id = await newSession()
      const run = background(root, env, ['run', '/hold', '-s', id, '--format', 'jsonl'])
      await run.seen('turn.started')
      run.child.kill(signal)
      expect(await run.ended).toBe(code)
      expect(run.lines().at(-1)).toMatchObject({
        type: 'result',
        exitCode: code,
        turn: { status: 'cancelled', abortSource: 'user_stop' },
      })
      expect(await json('wait', id, '--for', 'idle')).toMatchObject({ result: { turn: { status: 'cancelled' } } })
    }
  })

  test('C3 text from stdin comes back unchanged: CRLF, NUL, ZWJ, right-to-left', async () => {
    const { cli } = await served()
    const text = 'a\r\nb\u0000c 👩‍👩‍👧 שלום'
    const { stdout } = await cli(['run', '-', '--format', 'json'], { stdin: text })
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, result: { text } })
    expect((await cli(['run', '-'], { stdin: text })).stdout).toBe('a\nbc 👩‍👩‍👧 שלום\n')
  })
})
