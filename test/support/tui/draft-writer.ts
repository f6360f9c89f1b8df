import process from 'node:process'
import { createInterface } from 'node:readline'
import { DraftFiles } from '../../../replica/tui/composer/draft-file.ts'
import { DraftStore } from '../../../replica/tui/composer/draft-store.ts'
import { HistoryFile } from '../../../replica/tui/composer/history-file.ts'
import { typed } from '../../../replica/view/composer/editor.ts'

/**
 * Another terminal as far as drafts and history go: `draft-writer.ts <folder> <client>`. Reads a JSON array a line and answers each: `["type",
 * session, text]`, `["add", session, text]`, `["many", session, count]`, `["flush"]`.
 */
const [folder = '', client = ''] = process.argv.slice(2)
const drafts = new DraftStore(new DraftFiles(`${folder}/drafts`, client))
const history = new HistoryFile(`${folder}/history`, 'root')

for await (const line of createInterface({ input: process.stdin })) {
  const [verb, session = '', value = ''] = JSON.parse(line) as [string, string?, string?]
  if (verb === 'type') drafts.edit(session, editor => typed(editor, value))
  else if (verb === 'add') await history.add(session, value)
  else if (verb === 'many') {
    await Promise.all(
      Array.from({ length: Number(value) }, (_, i) => history.add(session, `${client} ${i} ${'x'.repeat(500)}`)),
    )
  } else if (verb === 'flush') await drafts.flush()
  else throw new Error(`no verb: ${verb}`)
  process.stdout.write(`${verb}\n`)
}
