import { readFileSync, statSync } from 'node:fs'
import { expect, test } from 'vitest'
import { exported } from '../support/cli/exported.ts'
import { parseLines } from '../support/cli/served.ts'
import { runCli } from '../support/run-cli.ts'

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
  expect((await elsewhere('verify')).stdout).toMatch(/^no faults in 1 session,/)
  const again = await elsewhere('import', file, '--json')
  expect(JSON.parse(again.stdout)).toMatchObject({
    ok: true,
    result: { kind: 'present', hash: first?.hash, records: 0 },
  })

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
  expect(refused.stderr).toMatch(/next: headwater --root \S+ stop/)
  expect((await cli(['stop'])).code).toBe(0)
  const json = JSON.parse((await cli(['export', id.slice(0, 8), '-o', `${file}.2`, '--json'])).stdout)
  expect(json).toMatchObject({ ok: true, result: { by: 'view', sessionId: id, path: `${file}.2` } })
  const body = (path: string) => readFileSync(path, 'utf8').split('\n').slice(1)
  expect(body(`${file}.2`)).toEqual(body(file))
  expect(await cli(['export', 'nobody'])).toMatchObject({ code: 3, stdout: '' })
  expect(await cli(['import', file])).toMatchObject({ code: 0, stdout: expect.stringContaining('nothing was changed') })
})

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
