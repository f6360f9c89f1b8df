import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testRoot } from '../../support/live/test-root.ts'
import { PROJECT } from '../../support/source-files.ts'
import { openHeadwater } from '../../support/tui/headwater-terminal.ts'
import { pictureOf } from '../../support/tui/picture.ts'

const MARKDOWN = `The login fails because the **cookie is set twice**:

1. \`session.ts\` sets it without \`SameSite\`
2. the proxy adds its own

\`\`\`ts
res.cookie('sid', id, { sameSite: 'lax', secure: true })
\`\`\`

| file | change |
| --- | --- |
| session.ts | one cookie |
| proxy.conf | none |

> Old sessions stay valid until they expire.`

test('experience 10 the main screens are what their pictures show', async () => {
  const root = testRoot()
  await root.start()
  const connection = await root.connect()
  const create = async (title: string) => {
    const sessionId = crypto.randomUUID()
    await connection.createSession({ sessionId, cwd: '/srv/shop', backend: 'scripted', title })
    return sessionId
  }
  const say = (sessionId: string, text: string) =>
    connection.startTurn({ sessionId, turnId: crypto.randomUUID(), content: { text } })
  const login = await create('Fix login bug')
  await say(await create('Weekly report'), 'Hello')
  await say(await create('Ask me'), '/ask')
  await say(await create('Long work'), '/hold')
  const pictures: Record<string, string> = {}
  const terminal = openHeadwater(root, { columns: 92, rows: 30 })
  await terminal.waitFor(/Ask me +waits for you/)
  await terminal.idle(200)
  pictures.list = pictureOf(terminal, 'The list of sessions in the terminal')
  const session = openHeadwater(root, { args: ['-s', login], columns: 92, rows: 34 })
  await session.waitFor('● live')
  await say(login, '/tool 400')
  await session.waitFor('completed')
  await say(login, MARKDOWN)
  await session.waitFor(/until they expire\.[\s\S]*completed/, 20_000)
  await session.idle(200)
  pictures.session = pictureOf(session, 'A session in the terminal')
  if (process.env.SHOW) console.log(terminal.screen(), session.screen())
  expect(session.screen()).toContain('res.cookie(')
  expect(Object.keys(pictures)).toContain('session')
  if (process.env.HEADWATER_RECORD_PICTURES === '1') {
    mkdirSync(join(PROJECT, 'docs', 'pictures'), { recursive: true })
    for (const [name, svg] of Object.entries(pictures))
      writeFileSync(join(PROJECT, 'docs', 'pictures', `${name}.svg`), svg)
  }
})
