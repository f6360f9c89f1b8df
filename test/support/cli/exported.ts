import { join } from 'node:path'
import { expect } from 'vitest'
import { testTempDir } from '../temp-dir.ts'
import { served } from './served.ts'

type Served = Awaited<ReturnType<typeof served>>

/** A served root with a session that has a long answer, tool output that is stored as an artifact, and a failure; exported. */
export async function exported(): Promise<
  Served & { readonly id: string; readonly file: string; readonly other: string }
> {
  const all = await served()
  const { cli, newSession } = all
  const id = await newSession()
  for (const text of ['/think and say so', '/tool 700000', '/stream 90000', '/crash'])
    await cli(['run', text, '-s', id])
  const directory = testTempDir('exchange')
  const file = join(directory, 'session.jsonl')
  expect(await cli(['export', id, '-o', file])).toMatchObject({ code: 0, stdout: `${file}\n`, stderr: '' })
  return { ...all, id, file, other: join(directory, 'other') }
}
