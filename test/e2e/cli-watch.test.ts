import { describe, expect, test } from 'vitest'
import { background, served } from '../support/cli/served.ts'
import { waitFor } from '../support/wait-for.ts'

describe('interfaces 5 watch', () => {
  test('V6 A10 two watchers follow a turn from elsewhere, across the death of the leader, each line once', async () => {
    const { root, env, leader, start, cli, newSession } = await served()
    const id = await newSession()
    const watchers = [0, 1].map(() => background(root, env, ['watch', id, '--since', '0', '--format', 'jsonl']))
    const reader = background(root, env, ['watch', id])
    for (const watcher of watchers) await watcher.seen('session.opened')
    await cli(['run', 'before the crash', '-s', id])
    await cli(['send', id, '/hold'])
    for (const watcher of watchers)
      await waitFor(() => watcher.lines().filter(({ type }) => type === 'turn.started').length === 2)
    await leader.kill()
    await start()
    for (const watcher of watchers) await watcher.seen('turn.failed')
    await cli(['run', 'after the crash', '-s', id])
    const [first, second] = await Promise.all(
      watchers.map(async watcher => {
        await waitFor(() => watcher.lines().filter(({ type }) => type === 'turn.completed').length === 2)
        watcher.child.kill('SIGTERM')
        expect(await watcher.ended).toBe(143)
        return watcher.lines().filter(({ type }) => type !== 'connection.changed' && type !== 'session.opened')
      }),
    )
    expect(first).toEqual(second)
    expect(first?.filter(({ type }) => type === 'turn.failed')).toEqual([
      expect.objectContaining({ failureClass: 'app_restarted' }),
    ])
    await waitFor(() => reader.stdout().split('turn completed').length === 3)
    expect(reader.stdout()).toMatch(
      /before the crash\n\n— turn completed\n\n› \/hold\n\n— turn failed: the leader ended while it ran/,
    )
    expect(reader.stderr()).toContain('connected again')
  })
})
