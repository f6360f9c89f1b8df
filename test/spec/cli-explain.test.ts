import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FAULT_WORDS } from '../../replica/cli/commands/explain/fault-words.ts'
import { ERRORS, type ErrorCode, EXIT_CODES } from '../../schema/errors.ts'
import { CLOSE_CODES, closeReaction } from '../../schema/wire/close-codes.ts'
import { callCli } from '../support/cli/call-cli.ts'
import { PROJECT, sourceFiles } from '../support/source-files.ts'

interface Explanation {
  readonly what: string
  readonly code: string
  readonly number: number | null
  readonly meaning: string
  readonly retry: string | null
  readonly reaction: string | null
  readonly next: string | null
}

async function explained(code: string): Promise<readonly Explanation[]> {
  const { code: exit, stdout, stderr } = await callCli(['explain', code, '--json'])
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' })
  return (JSON.parse(stdout) as { result: { explanations: Explanation[] } }).result.explanations
}

test.each(Object.keys(ERRORS) as ErrorCode[])('experience 3.1 explain %s: meaning, retry, what to do', async code => {
  const found = (await explained(code)).find(({ what }) => what === 'error')
  expect(found).toMatchObject({ code, meaning: ERRORS[code].meaning, retry: ERRORS[code].retry })
  expect(found?.next).toMatch(/\S{2}/)
})

test('experience 3.1 explain knows every exit code by number and by name', async () => {
  for (const [name, number] of Object.entries(EXIT_CODES)) {
    for (const typed of [name, String(number)]) {
      const found = (await explained(typed)).find(({ what }) => what === 'exit code')
      expect(found).toMatchObject({
        code: name,
        number,
        meaning: expect.stringMatching(/\S/),
        next: expect.stringMatching(/\S/),
      })
    }
  }
})

test('experience 3.1 explain knows every close code by number and by name, and what a replica does then', async () => {
  for (const [name, number] of Object.entries(CLOSE_CODES)) {
    for (const typed of [name.toUpperCase(), String(number)]) {
      const found = (await explained(typed)).find(({ what }) => what === 'close code')
      expect(found).toMatchObject({ code: name, number, reaction: closeReaction(number) })
    }
  }
})

test('experience 3.1 explain knows every kind of fault that the leader names', async () => {
  const leader = sourceFiles('leader').filter(({ path }) =>
    /^leader\/(verify|projection\/document|root-care)\/|^leader\/session\/(load|ledger\/ledger-walk)\.ts$|anchor\/regression\.ts$/.test(
      path,
    ),
  )
  const kinds = leader.flatMap(({ path }) => {
    const text = readFileSync(join(PROJECT, path), 'utf8')
    const named = /(?:\b(?:note|damaged)\(\s*|(?:code: '(?:session_damaged|storage_fault)',[^}]*?)kind: )'([a-z_]+)'/g
    return [...text.matchAll(named)].map(([, kind]) => kind as string)
  })
  expect(new Set(kinds).size).toBeGreaterThan(15)
  expect([...new Set(kinds)].filter(kind => !Object.hasOwn(FAULT_WORDS, kind))).toEqual([])
  const [found] = await explained('chain_broken')
  expect(found).toMatchObject({ what: 'fault', next: expect.stringContaining('headwater doctor --repair') })
})

test('experience 3.1 a word that is several things is explained as all of them', async () => {
  expect((await explained('unauthorized')).map(({ what }) => what)).toEqual(['error', 'exit code', 'close code'])
})

test('experience 3.1 explain in text, with the root that was named', async () => {
  const { stdout } = await callCli(['explain', 'session_archived', '--root', '/r'])
  expect(stdout).toBe(
    [
      'error\tsession_archived',
      'meaning\tThe session is archived; unarchive it first.',
      'retry\tchanged: after reading the current state and changing the command',
      'exit\t3',
      'next\theadwater --root /r session unarchive ID',
      '',
    ].join('\n'),
  )
})

test('experience 3.1 an unknown code is refused with the nearest ones', async () => {
  const { code, stdout, stderr } = await callCli(['explain', 'sesion_busy'])
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(/there is no code 'sesion_busy'; did you mean session_busy/)
  expect((await callCli(['explain', '99999'])).code).toBe(2)
})
