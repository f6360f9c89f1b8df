import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testTempDir } from '../support/temp-dir.ts'
import { within } from '../support/wait-for.ts'

const DEMO = join(import.meta.dirname, '../../dist/replica/cli/demo/main.js')

test('A2 X1 V6 the guided demo shows and checks everything, answers its own question and leaves nothing behind', async () => {
  const tmp = testTempDir('demo')
  const child = spawn(process.execPath, [DEMO], {
    env: { ...process.env, TMPDIR: tmp },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', text => {
      output += text
    })
  }
  const [code] = await within(once(child, 'close'), 20_000, 'the end of the demo')
  expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining('headwater serve') })
  expect(output.match(/^ {3}✓ /gm)?.length).toBeGreaterThanOrEqual(9)
  expect(output).not.toContain('✗')
  expect(output).not.toContain('\u001b')
  const pids = [...output.matchAll(/leader: process (\d+)/g)].map(([, pid]) => Number(pid))
  expect(new Set(pids).size).toBe(2)
  for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow()
  expect(readdirSync(tmp)).toEqual([])
})
