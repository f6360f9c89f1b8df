import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import type { App } from '../../../replica/tui/app/app-context.ts'
import { DraftStore } from '../../../replica/tui/composer/draft-store.ts'
import { editorCommand, writeInEditor } from '../../../replica/tui/composer/external-editor.ts'
import type { TuiOptions } from '../../../replica/tui/options.ts'
import { pasted, typed } from '../../../replica/view/composer/editor.ts'
import { expanded } from '../../../replica/view/composer/folded-text.ts'
import { LIMITS } from '../../../schema/limits.ts'
import { testTempDir } from '../../support/temp-dir.ts'

afterEach(() => vi.unstubAllEnvs())

const LONG = Array.from({ length: 20 }, (_, line) => `line ${line}`).join('\n')

/** A script as the editor; what it does with `$file` is shell. */
function stage(does: string) {
  const folder = testTempDir('editor')
  const temporary = join(folder, 'tmp')
  mkdirSync(temporary)
  vi.stubEnv('TMPDIR', temporary)
  const script = join(folder, 'my editor.sh')
  writeFileSync(script, `#!/bin/sh\nfor file; do :; done\n${does}\n`, { mode: 0o700 })
  const told: string[] = []
  const drafts = new DraftStore(null)
  const lent: string[] = []
  const app = (env: Record<string, string>): App =>
    ({
      options: { env: { PATH: process.env.PATH, ...env } } as Partial<TuiOptions> as TuiOptions,
      tell: text => told.push(text),
      lend: async use => {
        lent.push('lent')
        const result = await use()
        lent.push('back')
        return result
      },
    }) as Partial<App> as App
  return {
    folder,
    script,
    told,
    drafts,
    lent,
    app,
    edit: (env: Record<string, string>, over: Partial<App> = {}) =>
      writeInEditor({ drafts, draftKey: 's', app: { ...app(env), ...over } }),
    text: () => expanded(drafts.get('s').editor),
    left: () => readdirSync(temporary),
  }
}

test('experience 6.1 the editor gets the whole draft in a file of its own, with its arguments, and gives it back', async () => {
  const log = `printf '%s\\n' "$@" > "$LOG"; stat -c %a "$file" "$(dirname "$file")" >> "$LOG"; cat "$file" >> "$LOG"`
  const { script, folder, drafts, edit, text, told, left, lent } = stage(
    `${log}\nprintf 'written\\n' > "$file.new"; sed 's/^line 3$/line three/' "$file" >> "$file.new"; mv "$file.new" "$file"`,
  )
  drafts.edit('s', editor => pasted(typed(editor, 'see '), LONG))
  const LOG = join(folder, 'log')
  await edit({ EDITOR: `'${script}' --wait "two words"`, LOG })
  const lines = readFileSync(LOG, 'utf8').split('\n')
  expect(lines.slice(0, 2)).toEqual(['--wait', 'two words'])
  expect(lines[2]).toMatch(/\/tmp\/headwater-[^/]+\/message\.md$/)
  expect(lines.slice(3, 5)).toEqual(['600', '700'])
  expect(lines.slice(5).join('\n')).toBe(`see ${LONG}`)
  expect(text()).toBe(`written\nsee ${LONG.replace('line 3\n', 'line three\n')}`)
  expect([told, left(), lent]).toEqual([[], [], ['lent', 'back']])
})

test('experience 6.1 what was folded and not changed is folded again', async () => {
  const { script, drafts, edit } = stage(`sed 's/^see/look at/' "$file" > "$file.new"; mv "$file.new" "$file"`)
  drafts.edit('s', editor => pasted(typed(editor, 'see '), LONG))
  await edit({ VISUAL: `'${script}'`, EDITOR: 'false' })
  expect(drafts.get('s').editor.text).toBe('look at \u{100000}')
})

test.each([
  ['exit 3', undefined, 'it ended with 3'],
  ['kill -TERM $$', undefined, 'it was ended by SIGTERM'],
  ['', 'no-such-editor-here', 'there is no such program'],
  [`rm "$file"`, undefined, 'what was written cannot be read, or is too long'],
  [
    `head -c ${LIMITS.composerBytes + 1} /dev/zero | tr '\\0' x > "$file"`,
    undefined,
    'what was written is too long for a draft',
  ],
])('experience 6.1 an editor that fails leaves the draft as it was: %s %s', async (does, command, why) => {
  const { script, drafts, edit, text, told, left } = stage(`echo changed > "$file"; ${does}`)
  drafts.edit('s', editor => typed(editor, 'my text'))
  const EDITOR = command ?? `exec '${script}'`
  await edit({ EDITOR })
  expect(text()).toBe('my text')
  expect(told).toEqual([`The editor (${EDITOR}): ${why}; the draft is as it was`])
  expect(left()).toEqual([])
})

test('experience 6.1 what comes back while the editor is open is not lost', async () => {
  const { script, drafts, edit, text } = stage(`echo ' more' >> "$file"`)
  drafts.edit('s', editor => typed(editor, 'mine\n'))
  await edit(
    { EDITOR: `'${script}'` },
    {
      lend: async use => {
        drafts.putBack('s', 'taken back')
        return use()
      },
    },
  )
  expect(text()).toBe('mine\n more\n\n\ntaken back\n\nmine\n')
})

test('experience 6.1 the editor is that of VISUAL, then that of EDITOR, then vi', () => {
  expect(editorCommand({ VISUAL: 'code --wait', EDITOR: 'nano' })).toBe('code --wait')
  expect(editorCommand({ VISUAL: ' ', EDITOR: 'nano' })).toBe('nano')
  expect(editorCommand({})).toBe('vi')
})
