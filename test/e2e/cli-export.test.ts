import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { exported } from '../support/cli/exported.ts'
import { exportText } from '../support/exchange.ts'
import { BIN } from '../support/leader-process.ts'
import { testRoot } from '../support/live/test-root.ts'
import { runCli } from '../support/run-cli.ts'
import { SessionWorld } from '../support/session/session-world.ts'
import { within } from '../support/wait-for.ts'

test('L2 Z6 --format md is the transcript for people, the same every time, and whole in a file', async () => {
  const { cli, id, file } = await exported()
  const md = `${file}.md`
  writeFileSync(md, 'what was there before')
  expect(await cli(['export', id, '--format', 'md', '-o', md])).toMatchObject({ code: 0 })
  const text = readFileSync(md, 'utf8')
  expect((await cli(['export', id, '--format', 'md'])).stdout).toBe(text)
  expect(text).toMatch(/^# .*think and say so\n\n- Session: `/)
  expect(text.match(/^## Turn \d+ — \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/gm)).toHaveLength(4)
  expect(text).toContain('**User (the command line):**\n\n> /tool 700000\n')
  expect(text).toContain('**Tool** `print`: Print 700000 bytes — completed')
  expect(text).toContain("\n*Turn failed: the agent's process ended: the scripted process exited with code 1.*\n")
  expect((await cli(['export', id, '--json'])).code).toBe(2)
})

test('D5 a file that is cut off, changed or something else is refused by line, and nothing of it is there', async () => {
  const { env, file, other } = await exported()
  const text = readFileSync(file, 'utf8')
  const lines = text.split('\n')
  const importing = async (changed: string) => {
    const { code, stderr } = await runCli(['--root', other, 'import', '-'], { env, stdin: changed })
    return { code, stderr: stderr.trim() }
  }
  const at = lines.findIndex(line => line.includes('/think and say so'))
  const changed = lines.with(at, lines[at]?.replace('say so', 'say no') ?? '').join('\n')
  const files: readonly (readonly [string, string])[] = [
    [changed, `Line ${at + 1}: record ${at} is not what its hash says`],
    [lines.toSpliced(at, 1).join('\n'), `Line ${at + 1}: record ${at} is missing`],
    [lines.slice(0, -2).join('\n'), `Line ${lines.length - 2}: the file ends here without its last line`],
    [text.slice(0, text.length / 2), 'it is no JSON'],
    [`${text}{}\n`, `Line ${lines.length}: something stands behind the last line`],
    ['{"hello":1}\n', 'Line 1: this is no session that headwater has exported'],
    ['', 'Line 1: there is none'],
    [text.replace(/"data":"..../, '"data":"AAAA'), 'is not what its name says'],
  ]
  for (const [content, reason] of files) {
    const outcome = await importing(content)
    expect([outcome.code, outcome.stderr]).toEqual([3, expect.stringContaining(reason)])
    expect(outcome.stderr).toContain('Nothing was imported')
  }
  expect((await runCli(['--root', other, 'verify'], { env })).stdout).toMatch(/^no faults in 0 sessions, 0 records/)
  expect((await importing(text)).code).toBe(0)
}, 40_000)

test('D5 experience 4.1 whoever stops reading an export ends it quietly', async () => {
  const { env, root, id } = await exported()
  const pipe = `"$@" | head -c 100 >/dev/null; echo "\${PIPESTATUS[0]}"`
  const words = ['-c', pipe, 'bash', process.execPath, BIN, '--root', root, 'export', id]
  const child = spawn('bash', words, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', piece => (said += piece))
  await within(once(child, 'close'), 10_000, 'the end of the pipe')
  expect(said).toBe('0\n')
})

test('D5 A3 an import that is killed leaves nothing, and the same again goes through', async () => {
  const world = await SessionWorld.inMemory()
  await world.create('s')
  const run = await world.start('s', 't1')
  for (let i = 0; i < 1_200; i++) await run.port.apply({ kind: 'notice', text: `note ${i} `.repeat(10) })
  await world.during(run.end())
  const text = await exportText(world.store, 's')
  const root = testRoot()
  const child = spawn(process.execPath, [BIN, '--root', root.path, 'import', '-'], {
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  // More than a pipe holds: what was taken of it was written batch by batch.
  const begun = text.slice(0, text.lastIndexOf('{"type":"end"'))
  expect(begun.length).toBeGreaterThan(512 * 1024)
  await within(new Promise(resolve => child.stdin.write(begun, resolve)), 20_000, 'the import to read')
  child.kill('SIGKILL')
  await once(child, 'close')
  expect((await runCli(['--root', root.path, 'verify'])).stdout).toMatch(/^no faults in 0 sessions/)
  expect((await runCli(['--root', root.path, 'export', 's'])).code).toBe(3)
  expect(await runCli(['--root', root.path, 'import', '-'], { stdin: text })).toMatchObject({ code: 0 })
  expect((await runCli(['--root', root.path, 'verify'])).stdout).toMatch(/^no faults in 1 session,/)
})
