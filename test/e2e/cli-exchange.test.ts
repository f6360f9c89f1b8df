import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseLines, served } from '../support/cli/served.ts'
import { runCli } from '../support/run-cli.ts'
import { testTempDir } from '../support/temp-dir.ts'

type Served = Awaited<ReturnType<typeof served>>

/** A session with a long answer, tool output that is stored as an artifact, and a failure; exported. */
async function exported(): Promise<Served & { readonly id: string; readonly file: string; readonly other: string }> {
  const all = await served()
  const { cli, newSession } = all
  const id = await newSession()
  for (const text of ['/think and say so', '/tool 700000', '/stream 90000', '/crash']) await cli(['run', text, '-s', id])
  const directory = testTempDir('exchange')
  const file = join(directory, 'session.jsonl')
  expect(await cli(['export', id, '-o', file])).toMatchObject({ code: 0, stdout: `${file}\n`, stderr: '' })
  return { ...all, id, file, other: join(directory, 'other') }
}

test('A8 D5 a session that is exported from a running leader and imported elsewhere has the same last hash and looks the same', async () => {
  const { cli, env, id, file, other } = await exported()
  const elsewhere = (...args: string[]) => runCli(['--root', other, ...args], { env })
  const lines = parseLines(readFileSync(file, 'utf8')) as unknown as Record<string, unknown>[]
  const [first] = lines
  const last = lines.at(-1)
  expect(first).toMatchObject({ type: 'headwater.session', format: 1, sessionId: id, hash: last?.hash })
  expect(last).toMatchObject({ type: 'end', lines: lines.length - 1, records: first?.revision, artifacts: 1 })
  expect(statSync(file).mode & 0o777).toBe(0o600)

  const took = await elsewhere('import', file)
  expect(took).toMatchObject({ code: 0, stdout: `${id}  ${first?.revision} records, 1 artifacts\n`, stderr: '' })
  expect((await elsewhere('verify')).stdout).toMatch(/^no faults in 1 sessions/)
  const again = await elsewhere('import', file, '--json')
  expect(JSON.parse(again.stdout)).toMatchObject({ ok: true, result: { kind: 'present', hash: first?.hash, records: 0 } })

  const shown = async (run: typeof cli) => JSON.parse((await run(['session', 'show', id, '--json'])).stdout).result
  const [here, there] = [await shown(cli), await shown(args => elsewhere(...args))]
  expect({ ...there, bytes: 0 }).toEqual({ ...here, bytes: 0 })
  const back = parseLines((await elsewhere('export', id)).stdout) as unknown as Record<string, unknown>[]
  expect(back.slice(1)).toEqual(lines.slice(1))
  // It goes on there.
  expect((await elsewhere('run', 'more', '-s', id)).stdout).toBe('more\n')
  expect((await elsewhere('stop')).code).toBe(0)
  const conflict = await elsewhere('import', file)
  expect(conflict).toMatchObject({ code: 3, stderr: expect.stringContaining('is here already and has gone on since') })
})

test('D5 R9 without a leader the root is read; with one nothing is imported, and it says what to do', async () => {
  const { cli, id, file } = await exported()
  const refused = await cli(['import', file])
  expect(refused).toMatchObject({ code: 3, stdout: '' })
  expect(refused.stderr).toContain('next: headwater stop')
  expect((await cli(['stop'])).code).toBe(0)
  const json = JSON.parse((await cli(['export', id.slice(0, 8), '-o', `${file}.2`, '--json'])).stdout)
  expect(json).toMatchObject({ ok: true, result: { by: 'view', sessionId: id, path: `${file}.2` } })
  const body = (path: string) => readFileSync(path, 'utf8').split('\n').slice(1)
  expect(body(`${file}.2`)).toEqual(body(file))
  expect(await cli(['export', 'nobody'])).toMatchObject({ code: 3, stdout: '' })
  expect(await cli(['import', file])).toMatchObject({ code: 0, stdout: expect.stringContaining('nothing was changed') })
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

test('D5 L5 without its artifacts a session cannot be taken over where they are missing', async () => {
  const { cli, env, id, file, other } = await exported()
  const bare = await cli(['export', id, '--no-artifacts'])
  expect(parseLines(bare.stdout).at(-1)).toMatchObject({ type: 'end', artifacts: 0 })
  const refused = await runCli(['--root', other, 'import', '-'], { env, stdin: bare.stdout })
  expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining('which is neither in the file nor here') })
  // Beside those that are there already it can.
  expect((await runCli(['--root', other, 'import', file], { env })).code).toBe(0)
  const again = await runCli(['--root', other, 'import', '-'], { env, stdin: bare.stdout })
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('nothing was changed') })
})

test('L2 Z6 --format md is the transcript for people, the same every time, and whole in a file', async () => {
  const { cli, id, file } = await exported()
  const md = `${file}.md`
  writeFileSync(md, 'what was there before')
  expect(await cli(['export', id, '--format', 'md', '-o', md])).toMatchObject({ code: 0 })
  const text = readFileSync(md, 'utf8')
  expect((await cli(['export', id, '--format', 'md'])).stdout).toBe(text)
  expect(text).toMatch(/^# .*think and say so\n\n- Session: `/)
  expect(text.match(/^## Turn \d+ — \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/gm)).toHaveLength(4)
  expect(text).toContain('**User (run):**\n\n> /tool 700000\n')
  expect(text).toContain('**Tool** `print`: Print 700000 bytes — completed')
  expect(text).toContain("\n*Turn failed: the agent's process ended: the scripted process exited with code 1.*\n")
  expect((await cli(['export', id, '--json'])).code).toBe(2)
})
